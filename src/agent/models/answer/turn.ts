import type { LanguageModelV4Content, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import type { LanguageModelV4StreamPart, LanguageModelV4ToolCall, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { JsonObject, ModelTurn, ToolCall } from '../../context/message.ts';
import { cleanJson, cleanText } from '../../../base/checks/text.ts';
import { parseObject } from '../messages/assistant-parts.ts';
import { unmarked } from '../messages/marked-json.ts';
import { AnswerBounds } from './bounds.ts';
import { mergePlainText, toMetadata, type Block, type TextBlock } from './blocks.ts';
import { toFinishReason, toUsage } from './usage.ts';

type Finish = Pick<LanguageModelV4GenerateResult, 'usage' | 'finishReason'>;

/** Assembles a ModelTurn from stream parts, or from the content of a call without streaming, in the model's order. */
export class TurnCollector {
  private readonly blocks: Block[] = [];
  private readonly open = new Map<string, TextBlock>();
  private readonly bounds = new AnswerBounds();
  private cleaned = false;
  responseId: string | undefined;
  finish: Finish | undefined;

  /** Adds one stream part. Ignores parts that a ModelTurn does not store; the caller handles `error` parts. */
  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'tool-input-start':
        this.bounds.call();
        break;
      case 'tool-input-delta':
        this.bounds.chars(part.delta.length);
        break;
      case 'text-start':
      case 'reasoning-start':
        this.start(part.type === 'text-start' ? 'text' : 'reasoning', part.id, part.providerMetadata);
        break;
      case 'text-delta':
      case 'text-end':
        this.extend('text', part.id, part.type === 'text-delta' ? part.delta : '', part.providerMetadata);
        break;
      case 'reasoning-delta':
      case 'reasoning-end':
        this.extend('reasoning', part.id, part.type === 'reasoning-delta' ? part.delta : '', part.providerMetadata);
        break;
      case 'tool-call':
        this.addCall(part);
        break;
      case 'response-metadata':
        this.responseId = part.id ?? this.responseId;
        break;
      case 'finish':
        this.finish = part;
        break;
    }
  }

  /** Adds one content part of a call without streaming. */
  addContent(part: LanguageModelV4Content): void {
    if (part.type === 'tool-call') {
      this.bounds.call();
      this.addCall(part);
    } else if (part.type === 'text' || part.type === 'reasoning')
      this.push({ type: part.type, text: part.text }, part.providerMetadata);
  }

  /** Text and thinking so far: prefixes of what the finished turn will have. */
  soFar(): { text: string; thinking: string } {
    let text = '';
    let thinking = '';
    for (const block of this.blocks) {
      if (block.type === 'text') text += block.text;
      else if (block.type === 'reasoning') thinking += block.text;
    }
    return { text, thinking };
  }

  turn(): ModelTurn {
    const blocks = mergePlainText(this.blocks.filter((b) => b.type === 'tool-call' || b.text !== '' || b.metadata));
    for (const block of blocks) if (block.type !== 'tool-call') this.cleanBlock(block);
    const textOf = (type: Block['type']) => blocks.map((b) => (b.type === type ? (b as TextBlock).text : '')).join('');
    const turn: ModelTurn = {
      text: textOf('text'),
      toolCalls: blocks.flatMap((b) => (b.type === 'tool-call' ? [b.call] : [])),
      usage: toUsage(this.finish?.usage),
      finishReason: toFinishReason(this.finish?.finishReason),
    };
    const thinking = textOf('reasoning');
    if (thinking !== '') turn.thinking = thinking;
    Object.assign(turn, toMetadata(blocks));
    if (this.responseId !== undefined) turn.responseId = this.clean(this.responseId);
    if (this.cleaned) turn.cleaned = true;
    return turn;
  }

  private start(type: 'text' | 'reasoning', id: string, metadata: SharedV4ProviderMetadata | undefined): TextBlock {
    const block = this.push({ type, text: '' }, metadata);
    this.open.set(type + id, block);
    return block;
  }

  private extend(type: 'text' | 'reasoning', id: string, delta: string, metadata?: SharedV4ProviderMetadata): void {
    this.bounds.chars(delta.length);
    const block = this.open.get(type + id) ?? this.start(type, id, undefined);
    block.text += delta;
    // As in the AI SDK, the last metadata of a block wins, because signatures arrive at the end.
    if (metadata) block.metadata = metadata;
  }

  private push(block: TextBlock, metadata: SharedV4ProviderMetadata | undefined): TextBlock {
    if (metadata) block.metadata = metadata;
    this.blocks.push(block);
    return block;
  }

  private addCall(part: LanguageModelV4ToolCall): void {
    // The provider has already run this tool; running it here would answer the call twice.
    if (part.providerExecuted) return;
    const input = unmarked(part.input ?? '');
    const raw = this.clean(input);
    const call: ToolCall = {
      id: this.clean(part.toolCallId ?? ''),
      name: this.clean(part.toolName),
      // a call whose text is no object does not run: see `judgeCall`, which reads `arguments_raw`
      arguments: this.cleanJson(parseObject(input) ?? {}),
      arguments_raw: raw,
    };
    if (part.providerMetadata) call.provider_metadata = this.cleanJson(part.providerMetadata) as JsonObject;
    this.blocks.push({ type: 'tool-call', call });
  }

  private cleanBlock(block: TextBlock): void {
    block.text = this.clean(block.text);
    if (block.metadata) block.metadata = this.cleanJson(block.metadata);
  }

  private clean(text: string): string {
    const storable = cleanText(text);
    if (storable !== text) this.cleaned = true;
    return storable;
  }

  private cleanJson<T>(value: T): T {
    const result = cleanJson(value);
    if (result.cleaned) this.cleaned = true;
    return result.value;
  }
}

import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  SharedV4ProviderMetadata,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { JsonObject, ModelTurn, ToolCall, Json, Usage } from '../context/message.ts';
import { cleanJson, cleanText } from '../../base/checks/values.ts';
import { parseObject, type ReasoningDetail } from './parts.ts';
import { unmarked, AnswerBounds } from './provider-fetch.ts';
import { isCut, type AnswerCut } from '../context/fold.ts';
import { ModelError } from './model-error.ts';

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

/** Why an answer cannot be used, so that the model is asked again; undefined if it can. */
export function brokenAnswer({ finishReason }: ModelTurn): ModelError | undefined {
  // how providers report a connection that broke mid-answer; half an answer is not an answer
  if (finishReason === 'incomplete') return broken('llm_stream', 'The provider interrupted its answer.');
  // among others, calls that the provider itself could not read
  if (finishReason === 'error') return broken('llm_response', 'The provider ended its answer with an error.');
  return undefined;
}

const broken = (errorType: 'llm_stream' | 'llm_response', message: string) =>
  new ModelError(message, { errorType, retryable: true });

/** How an answer was cut; undefined if the model ended it. The limit is the one that was sent, or the tokens it used. */
export function cutOf({ finishReason, usage }: ModelTurn, maxOutputTokens: number | undefined): AnswerCut | undefined {
  if (!isCut(finishReason)) return undefined;
  const limit = finishReason === 'length' ? (maxOutputTokens ?? usage.output_tokens) : 0;
  return { reason: finishReason, ...(limit > 0 ? { limit } : {}) };
}

type TextBlock = { type: 'text' | 'reasoning'; text: string; metadata?: SharedV4ProviderMetadata };

/** One block of a model's answer; blocks keep the order in which they arrived. */
export type Block = TextBlock | { type: 'tool-call'; call: ToolCall };

/** Joins adjacent text blocks without provider metadata. */
export function mergePlainText(blocks: Block[]): Block[] {
  const merged: Block[] = [];
  for (const block of blocks) {
    const last = merged.at(-1);
    if (last?.type === 'text' && block.type === 'text' && !last.metadata && !block.metadata)
      merged[merged.length - 1] = { type: 'text', text: last.text + block.text };
    else merged.push(block);
  }
  return merged;
}

/**
 * The metadata a message must store besides its text and calls, so that the provider gets its own answer back. A
 * message has room for the metadata of one text block; more than one, or an unusual order, requires the full layout.
 */
export function toMetadata(blocks: Block[]): Pick<ModelTurn, 'reasoningDetails' | 'providerMetadata'> {
  const reasoning = blocks.filter((b): b is TextBlock => b.type === 'reasoning');
  const texts = blocks.filter((b): b is TextBlock => b.type === 'text');
  if (reasoning.length === 0 && !texts.some((b) => b.metadata)) return {};
  if (!isUsualOrder(blocks) || texts.length > 1 || texts[0]?.text === '')
    return { reasoningDetails: toDetails(blocks) };
  return {
    // `thinking` already holds a single block without metadata.
    ...(reasoning.length > 1 || reasoning[0]?.metadata ? { reasoningDetails: toDetails(reasoning) } : {}),
    ...(texts[0]?.metadata ? { providerMetadata: texts[0].metadata as JsonObject } : {}),
  };
}

const rank = { reasoning: 0, text: 1, 'tool-call': 2 };

const isUsualOrder = (blocks: Block[]): boolean =>
  blocks.every((block, i) => i === 0 || rank[(blocks[i - 1] as Block).type] <= rank[block.type]);

function toDetails(blocks: Block[]): Json {
  let calls = 0;
  const details = blocks.map((block): ReasoningDetail => {
    if (block.type === 'tool-call') return { tool_call: calls++ };
    const place = block.type === 'text' ? { text_length: block.text.length } : { text: block.text };
    return block.metadata ? { ...place, provider_metadata: block.metadata as JsonObject } : place;
  });
  return details as unknown as Json;
}

const count = (value: unknown): number =>
  typeof value === 'number' && value > 0 && Number.isFinite(value) ? Math.trunc(value) : 0;

/** The sum as providers report it, for servers that report nothing else. */
function reportedTotal(raw: LanguageModelV4Usage['raw']): number {
  const { total_tokens: ofOpenAi, totalTokens, totalTokenCount: ofGoogle } = raw ?? {};
  return count([ofOpenAi, totalTokens, ofGoogle].find((total) => typeof total === 'number'));
}

/**
 * The tokens of one model call. The three totals are always present, 0 when the provider did not count; if it counted
 * the sum and one part, the other part is the rest. Present only
 * when positive: `cache_read_tokens` and `cache_write_tokens`, part of the input, and `reasoning_tokens`, part of the
 * output.
 */
export function toUsage(usage: LanguageModelV4Usage | undefined): Usage {
  const input = usage?.inputTokens;
  const output = usage?.outputTokens;
  let input_tokens = count(input?.total);
  let output_tokens = count(output?.total);
  const rest = Math.max(0, reportedTotal(usage?.raw) - input_tokens - output_tokens);
  if (input_tokens === 0 && output_tokens > 0) input_tokens = rest;
  else if (output_tokens === 0 && input_tokens > 0) output_tokens = rest;
  const total_tokens = input_tokens + output_tokens || rest;
  const result: Usage = { input_tokens, output_tokens, total_tokens };
  if (count(input?.cacheRead) > 0) result.cache_read_tokens = count(input?.cacheRead);
  if (count(input?.cacheWrite) > 0) result.cache_write_tokens = count(input?.cacheWrite);
  if (count(output?.reasoning) > 0) result.reasoning_tokens = count(output?.reasoning);
  return result;
}

const finishReasons: Record<LanguageModelV4FinishReason['unified'], string> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  error: 'error',
  interrupted: 'incomplete',
  other: 'unknown',
};

/** Our name for the reason a model stopped; null if the provider gave no reason. */
const toFinishReason = (reason: LanguageModelV4FinishReason | undefined): string | null =>
  reason == null ? null : (finishReasons[reason.unified] ?? 'unknown');

import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { Json, JsonObject, ModelTurn, ToolCall } from '../../context/message.ts';
import type { ReasoningDetail } from '../messages/reasoning.ts';

export type TextBlock = { type: 'text' | 'reasoning'; text: string; metadata?: SharedV4ProviderMetadata };

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

import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { Json, JsonObject } from '../../context/message.ts';

/**
 * One entry of a message's `reasoning_details`, the part of an answer that the provider needs back unchanged.
 *
 * `{text, provider_metadata?}` is a block of reasoning; its metadata is Anthropic's signature or OpenAI's encrypted
 * content. If an answer is not simply reasoning, then text, then tool calls, the list also records the position of
 * every other block: `{text_length}` stands for that many UTF-16 units of the message's text, `{tool_call}` for the
 * call at that index.
 */
export type ReasoningDetail =
  | { text: string; provider_metadata?: JsonObject }
  | { text_length: number; provider_metadata?: JsonObject }
  | { tool_call: number };

/** The entries of a stored `reasoning_details`. Ignores entries of any other shape, such as imported ones. */
export function readReasoningDetails(stored: Json | undefined): ReasoningDetail[] {
  if (!Array.isArray(stored)) return [];
  return stored.filter(isDetail) as unknown as ReasoningDetail[];
}

function isDetail(entry: Json): boolean {
  if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) return false;
  return typeof entry.text === 'string' || isCount(entry.text_length) || isCount(entry.tool_call);
}

const isCount = (value: Json | undefined): boolean => Number.isInteger(value) && (value as number) >= 0;

/** Whether the entries cover exactly this text and these calls; false once the message has been edited. */
export function isFullLayout(details: ReasoningDetail[], textLength: number, callCount: number): boolean {
  let length = 0;
  let calls = 0;
  for (const detail of details) {
    if ('tool_call' in detail) {
      if (detail.tool_call !== calls++) return false;
    } else if ('text_length' in detail) length += detail.text_length;
  }
  return length === textLength && calls === callCount && details.some((d) => !('text' in d));
}

/** Provider metadata of a part, as the options that return it to the provider. */
export const toProviderOptions = (metadata: Json | undefined): { providerOptions?: SharedV4ProviderMetadata } =>
  metadata !== null && typeof metadata === 'object' && !Array.isArray(metadata) && Object.keys(metadata).length > 0
    ? { providerOptions: metadata as SharedV4ProviderMetadata }
    : {};

import type { LanguageModelV4Message, LanguageModelV4ToolCallPart } from '@ai-sdk/provider';
import { isBlankToProviders } from '../../../base/checks/text.ts';
import type { Json, JsonObject, Message, ToolCall } from '../../context/message.ts';
import type { Dialect } from '../sending/dialect.ts';
import { toParts, type PromptPart } from './parts.ts';
import { isFullLayout, readReasoningDetails, toProviderOptions, type ReasoningDetail } from './reasoning.ts';
import { findUnfit, maxDepth, parseJson } from '../../../base/common/json.ts';

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];

/**
 * The parts of an assistant message in the order of its `reasoning_details`, by default reasoning, text, tool calls.
 * The message's `provider_metadata` belongs to its text. `thinking` is sent only without `reasoning_details`.
 *
 * Blank texts are left out, because providers refuse them. No parts, if the model neither said anything nor called a
 * tool: without an answer after it, reasoning is refused too.
 */
export function toAssistantParts(message: Message, dialect: Dialect): AssistantPart[] {
  const parts = allParts(message);
  const sent = parts.every((part) => isSent(part, dialect)) ? parts : parts.filter((part) => isSent(part, dialect));
  return sent.some((part) => part.type !== 'reasoning' && !isSignature(part)) ? sent : [];
}

const isSent = (part: AssistantPart, dialect: Dialect): boolean =>
  part.type !== 'text' || !isBlankToProviders(part.text) || (isSignature(part) && dialect.name === 'google');

/** Google signs an answer with an empty text after it, and wants that back. */
const isSignature = (part: AssistantPart): boolean =>
  part.type === 'text' &&
  part.text === '' &&
  ['google', 'googleVertex', 'vertex'].some((name) => part.providerOptions?.[name]?.['thoughtSignature'] != null);

function allParts(message: Message): AssistantPart[] {
  const details = readReasoningDetails(message.reasoning_details);
  const calls = message.tool_calls ?? [];
  if (typeof message.content === 'string' && isFullLayout(details, message.content.length, calls.length))
    return layOut(details, message.content, calls);

  const parts: AssistantPart[] = details.filter((d) => 'text' in d).map(toReasoning);
  if (message.reasoning_details == null && message.thinking) parts.push({ type: 'reasoning', text: message.thinking });
  if (typeof message.content !== 'string') parts.push(...toParts(message.content).map(toNamedFile));
  else parts.push({ type: 'text', text: message.content, ...toProviderOptions(message.provider_metadata) });
  for (const call of calls) parts.push(toToolCall(call));
  return parts;
}

function layOut(details: ReasoningDetail[], text: string, calls: ToolCall[]): AssistantPart[] {
  let at = 0;
  return details.map((detail) => {
    if ('tool_call' in detail) return toToolCall(calls[detail.tool_call] as ToolCall);
    if ('text' in detail) return toReasoning(detail);
    const part = text.slice(at, (at += detail.text_length));
    return { type: 'text', text: part, ...toProviderOptions(detail.provider_metadata) };
  });
}

const toReasoning = (detail: { text: string; provider_metadata?: JsonObject }): AssistantPart => ({
  type: 'reasoning',
  text: detail.text,
  ...toProviderOptions(detail.provider_metadata),
});

const toToolCall = (call: ToolCall): LanguageModelV4ToolCallPart => ({
  type: 'tool-call',
  toolCallId: call.id,
  toolName: call.name,
  input: toInput(call),
  ...toProviderOptions(call.provider_metadata),
});

/** Most providers accept no files in answers, so a file there is only named. */
const toNamedFile = (part: PromptPart): PromptPart =>
  part.type === 'text'
    ? part
    : { type: 'text', text: `[${[part.mediaType, part.filename].filter(Boolean).join(': ')}]` };

// Prefer the raw string: jsonb reorders the keys of `arguments`, and the model should see its own order again.
function toInput({ arguments: args, arguments_raw: raw }: ToolCall): JsonObject {
  const input = (raw === undefined ? undefined : parseObject(raw)) ?? asObject(args) ?? {};
  if (raw !== undefined && findUnfit(raw) !== undefined) rawInputs.set(input, raw);
  return input;
}

/** Inputs whose numbers became strings, and the texts they were read from. */
const rawInputs = new WeakMap<object, string>();

/**
 * A prompt for a provider that sends arguments as text and takes a text for them: it gets the digits as the model wrote
 * them. Other providers get them in quotes.
 */
export function withRawInputs(prompt: LanguageModelV4Message[]): LanguageModelV4Message[] {
  return prompt.map((message) => {
    if (message.role !== 'assistant' || !message.content.some((part) => rawOf(part) !== undefined)) return message;
    const content = message.content.map((part): AssistantPart => {
      const input = rawOf(part);
      return input === undefined ? part : ({ ...part, input } as AssistantPart);
    });
    return { ...message, content };
  });
}

function rawOf(part: AssistantPart): string | undefined {
  if (part.type !== 'tool-call') return undefined;
  const raw = rawInputs.get(part.input as object);
  return raw !== undefined && parseObject(raw) ? raw : undefined;
}

const asObject = (value: Json | undefined): JsonObject | undefined =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined;

/**
 * The JSON object in a string, or undefined if the string is anything else, or nested too deep to be walked. A number
 * that a double cannot hold becomes a string with its digits.
 */
export function parseObject(text: string): JsonObject | undefined {
  if (text === '') return undefined;
  try {
    return asObject(parseJson(text, maxDepth) as Json);
  } catch {
    return undefined;
  }
}

import type {
  LanguageModelV4Message,
  LanguageModelV4ToolCallPart,
  LanguageModelV4FilePart,
  LanguageModelV4TextPart,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { isBlankToProviders } from '../../base/checks/values.ts';
import type { Json, JsonObject, Message, ToolCall, ContentPart } from '../context/message.ts';
import type { Dialect } from './acceptable-prompt.ts';
import { findUnfit, maxDepth, parseJson } from '../../base/common/json.ts';
import { LanefoldError } from '../../base/errors.ts';

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

type PromptPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/**
 * Text and file parts for a provider. `data` is base64; a `url` is passed on without downloading it.
 *
 * @throws LanefoldError `invalid_input` for any other type of part, or a file without `data` or an absolute `url`
 */
export const toParts = (content: Message['content']): PromptPart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(toPart);

/** Those parts without blank texts, which providers refuse; all of them if there is nothing else. */
export function toSaidParts(content: Message['content']): PromptPart[] {
  const parts = toParts(content);
  if (parts.length === 1) return parts;
  const said = parts.filter((part) => part.type !== 'text' || !isBlankToProviders(part.text));
  return said.length > 0 ? said : parts;
}

function toPart(part: ContentPart): PromptPart {
  if (part === null || typeof part !== 'object') throw unsupported(part);
  const fields = part as { [key: string]: Json | undefined };
  const options = toProviderOptions(fields.provider_metadata);
  if (part.type === 'text' && typeof fields.text === 'string') return { type: 'text', text: fields.text, ...options };
  if (part.type !== 'file') throw unsupported(part.type);
  if (typeof fields.media_type !== 'string') throw invalidFile('has no media_type');
  return {
    type: 'file',
    ...(typeof fields.filename === 'string' ? { filename: fields.filename } : {}),
    data: fileData(fields.data, fields.url),
    mediaType: fields.media_type,
    ...options,
  };
}

function fileData(data: Json | undefined, url: Json | undefined): LanguageModelV4FilePart['data'] {
  if (typeof data === 'string') return { type: 'data', data };
  if (typeof url !== 'string') throw invalidFile('has neither data nor url');
  const inline = /^data:[^,]*;base64,(.*)$/s.exec(url);
  if (inline) return { type: 'data', data: inline[1] ?? '' };
  if (!URL.canParse(url)) throw invalidFile('has a url that is not an absolute URL');
  return { type: 'url', url: new URL(url) };
}

/** The content of a system message, which providers accept only as one string. */
export function toText(content: Message['content']): string {
  const parts = toParts(content);
  return parts
    .map((part) => {
      if (part.type !== 'text') throw unsupported(part.type, 'in a system message');
      return part.text;
    })
    .join('\n');
}

const unsupported = (type: unknown, where = '') =>
  new LanefoldError(
    'invalid_input',
    `A content part of type ${JSON.stringify(type)} cannot be sent ${where || 'to a model'}.`,
    {
      hint: 'Use {type: "text", text} or {type: "file", media_type, data | url}.',
      details: { type },
    },
  );

const invalidFile = (what: string) =>
  new LanefoldError('invalid_input', `A content part of type "file" ${what}.`, {
    hint: 'Use {type: "file", media_type, data} with base64, or {type: "file", media_type, url}.',
    details: { type: 'file' },
  });

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
function readReasoningDetails(stored: Json | undefined): ReasoningDetail[] {
  if (!Array.isArray(stored)) return [];
  return stored.filter(isDetail) as unknown as ReasoningDetail[];
}

function isDetail(entry: Json): boolean {
  if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) return false;
  return typeof entry.text === 'string' || isCount(entry.text_length) || isCount(entry.tool_call);
}

const isCount = (value: Json | undefined): boolean => Number.isInteger(value) && (value as number) >= 0;

/** Whether the entries cover exactly this text and these calls; false once the message has been edited. */
function isFullLayout(details: ReasoningDetail[], textLength: number, callCount: number): boolean {
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

import { isObject, readJson } from '../../base/common/json.ts';

/**
 * Messages exactly as they are stored and sent, in snake_case because they are data.
 *
 * `content` is a string or a list of parts. An absent key and `null` mean the same, and an empty `tool_calls` is not
 * stored. `arguments_raw` is the provider's string, byte for byte; `arguments` is its parsed value.
 */
export type Role = 'system' | 'user' | 'assistant' | 'tool';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface ToolCall {
  id: string;
  name: string;
  arguments: Json;
  arguments_raw?: string;
  provider_metadata?: JsonObject;
}

export type ContentPart =
  | { type: 'text'; text: string }
  | { type: 'file'; media_type: string; data?: string; url?: string; filename?: string }
  | { type: string; [key: string]: Json | undefined };

export type MessageContent = string | ContentPart[];

export interface Message {
  role: Role;
  content: MessageContent;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  name?: string;
  thinking?: string;
  reasoning_details?: Json;
  provider_metadata?: JsonObject;
}

/** The answer of one model call, normalised across providers. */
export interface ModelTurn {
  text: string;
  toolCalls: ToolCall[];
  thinking?: string;
  reasoningDetails?: Json;
  providerMetadata?: JsonObject;
  usage: Usage;
  /**
   * `stop`, `tool_calls`, `length`, `content_filter`, `error`, `incomplete`, `unknown`; null when the provider gave
   * none. `cancelled`: the run was cancelled meanwhile.
   */
  finishReason: string | null;
  responseId?: string;
  /** Set when text the database cannot store (NUL, lone surrogates) was replaced with U+FFFD. */
  cleaned?: boolean;
}

/** Token counters of one or more calls. A provider may add further numeric counters to the three. */
export type Usage = { input_tokens: number; output_tokens: number; total_tokens: number } & {
  [counter: string]: number;
};

/** The text of a message, without its other parts. */
export const textOf = (content: Message['content']): string =>
  typeof content === 'string' ? content : content.flatMap((part) => (isText(part) ? [part.text] : [])).join('\n');

export const isText = (part: ContentPart): part is { type: 'text'; text: string } =>
  part.type === 'text' && 'text' in part && typeof part.text === 'string';

/** The arguments of a call as their JSON object, or a sentence that says what they are instead. */
type ReadArguments = { ok: true; value: JsonObject } | { ok: false; problem: string };

/** By the text that the model wrote; by their value if the log has no text. */
export const argumentsOf = ({
  arguments: value,
  arguments_raw: written,
}: Pick<ToolCall, 'arguments' | 'arguments_raw'>): ReadArguments =>
  written == null ? asArguments(value) : readArguments(written);

/**
 * Reads the text that a model wrote as the arguments of a call. A blank text is a call without arguments: servers send one
 * for tools without arguments. A tool gets plain numbers, so a number that a double cannot hold is a problem.
 */
function readArguments(written: string): ReadArguments {
  if (written.trim() === '') return { ok: true, value: {} };
  const read = readJson(written);
  if (read.ok) return asArguments(read.value as Json);
  return { ok: false, problem: read.kind === 'syntax' ? noObject('not valid JSON') : read.problem };
}

function asArguments(value: Json | undefined): ReadArguments {
  if (isObject(value)) return { ok: true, value };
  return { ok: false, problem: noObject(nameOf(value)) };
}

const noObject = (what: string): string => `The arguments must be one JSON object, but they are ${what}.`;

function nameOf(value: Json | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

/**
 * The index of the first message with an unanswered tool call, or of a result without a call; -1 if there is neither.
 */
export function openGroupAt(messages: readonly Message[]): number {
  for (let i = 0; i < messages.length; i++) {
    const at = i;
    if (messages[i]!.role === 'tool') return at;
    for (const call of messages[at]!.tool_calls ?? []) {
      const answer = messages[++i];
      if (answer?.role !== 'tool' || answer.tool_call_id !== call.id) return at;
    }
  }
  return -1;
}

/**
 * The first message of a context as it is sent with an output contract: the instructions are appended to the system
 * prompt, or become it if there is no prompt. They are never stored.
 */
export const withInstructions = (first: Message, instructions: string): Message[] =>
  first.role === 'system' && typeof first.content === 'string'
    ? [{ ...first, content: `${first.content}\n\n${instructions}` }]
    : [{ role: 'system', content: instructions }, first];

/** The sum of two usages, counter by counter. */
export function addUsage(total: Usage | undefined, more: Usage): Usage {
  if (!total) return more;
  const sum: Usage = { ...total };
  for (const [counter, count] of Object.entries(more)) sum[counter] = (sum[counter] ?? 0) + count;
  return sum;
}

/** What is left of a usage without a part of it, counter by counter. */
export function subtractUsage(total: Usage, part: Usage): Usage {
  const rest: Usage = { ...total };
  for (const [counter, count] of Object.entries(total)) rest[counter] = count - (part[counter] ?? 0);
  return rest;
}

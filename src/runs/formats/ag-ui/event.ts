import { addUsage, type Json, type JsonObject, type Usage } from '../../../agent/context/message.ts';

/** The version of the protocol that these events follow. */
export const protocolVersion = '1.0';

/** Facts of Lanefold that the protocol has no field for. */
export interface AgUiMetadata {
  lanefold: JsonObject;
}

/** Tokens of one model. Cached input tokens are part of the input, reasoning tokens part of the output. */
export interface AgUiUsage {
  provider?: string;
  model?: string;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  reasoningTokens?: number;
  cachedInputTokens?: number;
  cacheWriteInputTokens?: number;
}

/** A tool call that waits for a person. A `resume` entry of the next request answers it by its id. */
export interface AgUiInterrupt {
  id: string;
  /** `tool_call`: an approval. `input_required`: an event, or the result of a tool that the client runs. */
  reason: 'tool_call' | 'input_required';
  message: string;
  toolCallId?: string;
  /** A JSON Schema of the payload. */
  responseSchema: JsonObject;
  expiresAt?: string;
  metadata: AgUiMetadata;
}

export type AgUiOutcome =
  | { type: 'success'; pendingToolCallIds?: string[] }
  | { type: 'interrupt'; interrupts: AgUiInterrupt[] }
  | { type: 'cancelled' };

/** An operation of a JSON Patch. */
export type PatchOperation = { op: 'add' | 'replace'; path: string; value: Json } | { op: 'remove'; path: string };

/** The events of AG-UI 1.0 that Lanefold sends. */
export type AgUiEvent =
  | { type: 'RUN_STARTED'; threadId: string; runId: string; protocolVersion: string; metadata?: AgUiMetadata }
  | {
      type: 'RUN_FINISHED';
      threadId: string;
      runId: string;
      outcome: AgUiOutcome;
      result?: Json;
      usage?: AgUiUsage[];
      metadata?: AgUiMetadata;
    }
  | { type: 'RUN_ERROR'; message: string; code: string; usage?: AgUiUsage[]; metadata?: AgUiMetadata }
  | { type: 'STEP_STARTED' | 'STEP_FINISHED'; stepName: string }
  | { type: 'TEXT_MESSAGE_START'; messageId: string; role: 'assistant' | 'user' }
  | { type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT'; messageId: string; delta: string }
  | { type: 'TEXT_MESSAGE_END' | 'REASONING_START' | 'REASONING_MESSAGE_END' | 'REASONING_END'; messageId: string }
  | { type: 'REASONING_MESSAGE_START'; messageId: string; role: 'reasoning' }
  | { type: 'TOOL_CALL_START'; toolCallId: string; toolCallName: string; parentMessageId: string }
  | { type: 'TOOL_CALL_ARGS'; toolCallId: string; delta: string }
  | { type: 'TOOL_CALL_END'; toolCallId: string }
  | { type: 'TOOL_CALL_RESULT'; messageId: string; toolCallId: string; role: 'tool'; content: string | AgUiPart[] }
  | { type: 'STATE_SNAPSHOT'; snapshot: JsonObject }
  | { type: 'STATE_DELTA'; delta: PatchOperation[] }
  | { type: 'MESSAGES_SNAPSHOT'; messages: AgUiMessage[] }
  | { type: 'ACTIVITY_SNAPSHOT'; messageId: string; activityType: string; content: JsonObject }
  | { type: 'ACTIVITY_DELTA'; messageId: string; activityType: string; patch: PatchOperation[] }
  | {
      type: 'SUBAGENT_STARTED';
      subagentRunId: string;
      name: string;
      parentToolCallId?: string;
      parentMessageId?: string;
    }
  | { type: 'SUBAGENT_FINISHED'; subagentRunId: string; outcome: { type: 'success' | 'suspended' } }
  | { type: 'SUBAGENT_ERROR'; subagentRunId: string; message: string; code: string }
  | { type: 'CUSTOM'; name: string; value: Json };

/** Where the bytes of a part are. `file` is a handle of a provider, which Lanefold does not accept. */
export type AgUiSource =
  | { type: 'data'; value: string; mimeType: string }
  | { type: 'url'; value: string; mimeType?: string | undefined }
  | { type: 'file'; value: string; provider?: string | undefined; mimeType?: string | undefined };

/** A part of a message's content. */
export type AgUiPart =
  { type: 'text'; text: string } | { type: 'image' | 'audio' | 'video' | 'document'; source: AgUiSource };

/** A tool call of an assistant message; `arguments` is JSON as the model wrote it. */
export interface AgUiToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/** A message of AG-UI 1.0. Lanefold reads and sends the roles `user`, `assistant`, `tool` and `reasoning`. */
export type AgUiMessage =
  | { id: string; role: 'user'; content: string | AgUiPart[] }
  | { id: string; role: 'assistant'; content?: string | undefined; toolCalls?: AgUiToolCall[] | undefined }
  | { id: string; role: 'tool'; toolCallId: string; content: string | AgUiPart[]; error?: string | undefined }
  | { id: string; role: 'reasoning' | 'system' | 'developer'; content: string }
  | { id: string; role: 'activity'; activityType: string; content: JsonObject };

export type AgUiUserMessage = Extract<AgUiMessage, { role: 'user' }>;
export type AgUiToolMessage = Extract<AgUiMessage, { role: 'tool' }>;

/** The message of a model call, and of an assistant entry that no run wrote. */
export const messageIdOf = (callId: unknown, seq: unknown): string =>
  typeof callId === 'string' ? callId : `entry_${String(seq)}`;

export const reasoningIdOf = (messageId: string): string => `${messageId}.reasoning`;

/** The id of a tool call is its place, because providers reuse their own ids within a conversation. */
export const toolCallIdOf = (messageId: string, index: number): string => `${messageId}#${index}`;

export const toolMessageIdOf = (toolCallId: string): string => `${toolCallId}.result`;

/** The tokens of a segment, by model. */
export class UsageByModel {
  readonly #of = new Map<string, Usage>();

  add(model: Json | undefined, usage: Json | undefined): void {
    if (typeof model !== 'string' || typeof usage !== 'object' || usage === null) return;
    this.#of.set(model, addUsage(this.#of.get(model), usage as Usage));
  }

  clear(): void {
    this.#of.clear();
  }

  list(): { usage?: AgUiUsage[] } {
    const usage = [...this.#of].map(([model, used]) => toAgUiUsage(model, used));
    return usage.length > 0 ? { usage } : {};
  }
}

/** @param model `provider:model` */
function toAgUiUsage(name: string, usage: Usage): AgUiUsage {
  const [provider, ...model] = name.split(':');
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  const optional = {
    reasoningTokens: usage['reasoning_tokens'],
    cachedInputTokens: usage['cache_read_tokens'],
    cacheWriteInputTokens: usage['cache_write_tokens'],
  };
  return {
    ...(model.length > 0 ? { provider: provider!, model: model.join(':') } : { model: name }),
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    ...Object.fromEntries(Object.entries(optional).filter(([, count]) => count !== undefined)),
  };
}

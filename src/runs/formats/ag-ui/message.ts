import type { JsonObject } from '../../../agent/context/message.ts';

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

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

export interface Message {
  role: Role;
  content: string | ContentPart[];
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

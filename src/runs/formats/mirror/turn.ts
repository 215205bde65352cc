import type { ContentPart, Message, ToolCall } from '../../../agent/context/message.ts';

/** What one item of another framework's history means for a lane. Items that no model reads have no turn. */
export type Turn =
  | { is: 'system'; text: string }
  | { is: 'message'; message: Message }
  /** An assistant message with calls, which opens a tool group. */
  | { is: 'calls'; message: Message & { tool_calls: ToolCall[] } }
  | { is: 'result'; callId: string; name?: string | undefined; content: string | ContentPart[] };

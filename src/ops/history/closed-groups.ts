import type { Message } from '../../agent/context/message.ts';

/**
 * Whether every assistant message with calls is followed by its tool messages in call order, with no other tool
 * messages.
 */
export function isClosed(messages: readonly Message[]): boolean {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (open.shift() !== message.tool_call_id) return false;
    } else {
      if (open.length > 0) return false;
      open = message.tool_calls?.map((call) => call.id) ?? [];
    }
  }
  return open.length === 0;
}

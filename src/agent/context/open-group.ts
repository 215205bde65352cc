import type { Message } from './message.ts';

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

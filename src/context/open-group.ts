import type { Message } from './message.ts';

/** The index of the first message that leaves a call without its result, or is a result without a call; -1 for none. */
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

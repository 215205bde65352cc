import type { Conversation } from './recording.ts';
import type { RecordedMessage } from './messages.ts';

/** What one user message led to. Indices are those of the recorded messages. */
export interface RecordedRun {
  /** The user message; also what the run's request id is made of. */
  user: number;
  input: string;
  /** The assistant turns, in order. None: the message was never answered. */
  turns: number[];
  /** `final_answer`, or `max_iterations` where the recording stops after tool messages. */
  ends: 'final_answer' | 'max_iterations';
}

/** Splits a conversation at its user messages. */
export function runsIn({ messages }: Conversation): RecordedRun[] {
  const runs: RecordedRun[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') runs.push({ user: index, input: message.content, turns: [], ends: 'final_answer' });
    if (message.role !== 'assistant') continue;
    const run = runs.at(-1)!;
    run.turns.push(index);
    run.ends = message.calls.length > 0 ? 'max_iterations' : 'final_answer';
  }
  return runs;
}

export const systemPromptOf = ({ messages }: Conversation): string | undefined =>
  messages[0]?.role === 'system' ? messages[0].content : undefined;

/** An answer of nothing at all: it is stored, but no provider takes an empty message, so prompts leave it out. */
export const isBlank = (message: RecordedMessage): boolean =>
  message.role === 'assistant' && !message.content && message.calls.length === 0;

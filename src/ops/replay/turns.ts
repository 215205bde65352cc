import type { Conversation } from './recording.ts';
import type { RecordedMessage } from './messages.ts';
import type { Message } from '../../agent/context/message.ts';

/** One user message and the turns that answer it. Indices refer to the recorded messages. */
export interface ReplayedRun {
  /** The user message; the request id of the run is derived from it. */
  user: number;
  input: Message['content'];
  /** The assistant turns, in order; empty if the message was never answered. */
  turns: number[];
  /** `final_answer`, or `max_iterations` if the recording ends with tool messages. */
  ends: 'final_answer' | 'max_iterations';
}

/** Splits a conversation at its user messages. */
export function runsIn({ messages }: Conversation): ReplayedRun[] {
  const runs: ReplayedRun[] = [];
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

/** A blank answer. It is stored, but prompts leave it out because providers reject empty messages. */
export const isBlankMessage = (message: RecordedMessage): boolean =>
  message.role === 'assistant' && !message.content && message.calls.length === 0;

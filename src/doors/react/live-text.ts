import { isTerminal } from '../client/answers.ts';
import type { StreamItem } from '../client/stream-item.ts';

/** The answer of a model call while it is written. */
export interface LiveAnswer {
  runId: string;
  text: string;
  thinking: string;
  /** Whether it is complete, and so in the log. */
  done: boolean;
}

/** The answers in progress, by model call. Each change makes a new map. */
export type LiveAnswers = ReadonlyMap<string, LiveAnswer>;

/** What an item of a stream makes of the answers in progress; the same map if it changes nothing. */
export function withItem(answers: LiveAnswers, item: StreamItem): LiveAnswers {
  if (item.type === 'unattended' || item.type === 'exists') return answers;
  if (item.type === 'event') {
    const { kind, data, runId } = item.event;
    // what it has not completed is not in the log
    if (isTerminal(kind)) return without(answers, (answer) => answer.runId === runId && !answer.done);
    const callId = data['call_id'] as string;
    const answer = answers.get(callId);
    if (!answer) return answers;
    if (kind === 'llm_completed') return new Map(answers).set(callId, { ...answer, done: true });
    return kind === 'llm_retry' || kind === 'llm_lost' ? without(answers, (_, id) => id === callId) : answers;
  }
  const { runId, llmCallId } = item;
  const had = answers.get(llmCallId) ?? { runId, text: '', thinking: '', done: false };
  if (item.type === 'llm_snapshot')
    return new Map(answers).set(llmCallId, { ...had, text: item.text, thinking: item.thinking });
  const more =
    'text' in item
      ? { text: had.text.slice(0, item.offset) + item.text }
      : { thinking: had.thinking.slice(0, item.offset) + item.thinking };
  return new Map(answers).set(llmCallId, { ...had, ...more });
}

/** The answers without those to drop; the same map if there are none. */
export function without(answers: LiveAnswers, drop: (answer: LiveAnswer, callId: string) => boolean): LiveAnswers {
  const kept = [...answers].filter(([id, answer]) => !drop(answer, id));
  return kept.length === answers.size ? answers : new Map(kept);
}

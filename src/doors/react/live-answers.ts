import { isTerminal } from '../client/answers.ts';
import type { StreamItem } from '../client/sse.ts';

/** The answer of a model call while it is written. */
export interface LiveAnswer {
  readonly callId: string;
  readonly runId: string;
  readonly text: string;
  readonly thinking: string;
  /** Whether it is complete, and so in the log. */
  readonly done: boolean;
}

/** The answers in progress, as a stream tells them. */
export class LiveAnswers {
  readonly #byCall = new Map<string, LiveAnswer>();
  /** Runs that have ended: deltas have a way of their own, and may come when their answer is in the history, or on another branch. */
  readonly #ended = new Set<string>();

  /** In the order in which their calls began. */
  all(): LiveAnswer[] {
    return [...this.#byCall.values()];
  }

  /** Takes what a stream tells. Returns whether that changes an answer. */
  take(item: StreamItem): boolean {
    if (item.type === 'unattended' || item.type === 'exists') return false;
    if (item.type === 'event') return this.#happened(item.event);
    const { runId, llmCallId: callId } = item;
    if (this.#ended.has(runId)) return false;
    const had = this.#byCall.get(callId) ?? { callId, runId, text: '', thinking: '', done: false };
    this.#byCall.set(callId, { ...had, ...written(had, item) });
    return true;
  }

  #happened({ kind, data, runId }: Extract<StreamItem, { type: 'event' }>['event']): boolean {
    if (isTerminal(kind)) {
      this.#ended.add(runId);
      // what it has not completed is not in the log
      return this.drop((answer) => answer.runId === runId && !answer.done);
    }
    const callId = data['call_id'] as string;
    const answer = this.#byCall.get(callId);
    if (!answer) return false;
    if (kind === 'llm_completed') this.#byCall.set(callId, { ...answer, done: true });
    else if (kind === 'llm_retry' || kind === 'llm_lost') this.#byCall.delete(callId);
    else return false;
    return true;
  }

  /** A run has ended, and its answer is in the history. */
  endOf(runId: string): void {
    this.#ended.add(runId);
    this.drop((answer) => answer.runId === runId);
  }

  /** Drops the answers that `isOver` names. Returns whether there was one. */
  drop(isOver: (answer: LiveAnswer) => boolean): boolean {
    const over = this.all().filter(isOver);
    for (const { callId } of over) this.#byCall.delete(callId);
    return over.length > 0;
  }

  clear(): void {
    this.#byCall.clear();
  }
}

type Written = Exclude<StreamItem, { type: 'unattended' | 'exists' | 'event' }>;

/** What a delta, or the whole of an answer so far, makes of the answer. */
function written({ text, thinking }: LiveAnswer, item: Written): Partial<LiveAnswer> {
  if (item.type === 'llm_snapshot') return { text: item.text, thinking: item.thinking };
  return 'text' in item
    ? { text: text.slice(0, item.offset) + item.text }
    : { thinking: thinking.slice(0, item.offset) + item.thinking };
}

import type { Operation } from './operation.ts';

/** A contradiction in a history. */
export interface HistoryViolation {
  /** Name of the check. */
  check: string;
  /** What contradicts, with the ids. */
  what: string;
  thread_id: string;
  /** The operations that contradict each other, by the index of their invocation. */
  operations: number[];
}

/** A promise, as a pure function of what clients and workers asked and were told. */
export interface HistoryCheck {
  name: string;
  /** What holds in every legal history, as a sentence. */
  promise: string;
  /** Whether `find` gets the operations of one thread, or those of all threads. */
  scope: 'thread' | 'all';
  /** `history` has the operations in order of their invocations. */
  find(history: readonly Operation[]): Found[];
}

export interface Found {
  what: string;
  /** The operations that contradict each other; the thread is that of the first one. */
  by: readonly Operation[];
}

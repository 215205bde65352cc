import type { Operation, Answered, OperationName, OperationOf, SnapshotEntry } from './event.ts';
import { canonicalJson } from '../../agent/context/canonical.ts';
import type { Message } from '../../agent/context/message.ts';

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
  /** Set if `find` gets the operations of all threads; else it gets one thread's operations. */
  scope?: 'all';
  /** `history` has the operations in order of their invocations. */
  find(history: readonly Operation[]): Found[];
}

export interface Found {
  what: string;
  /** The operations that contradict each other; the thread is the first one's. */
  by: readonly Operation[];
}

/** The operations of a kind. */
export const all = <Name extends OperationName>(history: readonly Operation[], f: Name): OperationOf<Name>[] =>
  history.filter((operation) => operation.f === f) as OperationOf<Name>[];

/** The operations of a kind that were answered. */
export const answered = <Name extends OperationName>(history: readonly Operation[], f: Name): Answered<Name>[] =>
  all(history, f).filter(({ outcome }) => outcome === 'ok') as Answered<Name>[];

/** Whether an operation had ended before another one began, as every client could see. */
export const before = (a: Pick<Operation, 'ended'>, b: Pick<Operation, 'invoked'>): boolean => a.ended < b.invoked;

/** The longest read of a thread; of several, the last one. Undefined if the thread was never read. */
export const longestRead = (history: readonly Operation[]): Answered<'read'> | undefined =>
  answered(history, 'read').reduce<Answered<'read'> | undefined>(
    (longest, read) => (longest && longest.answer.entries.length > read.answer.entries.length ? longest : read),
    undefined,
  );

/** The last read that also tells how the runs are. */
export const lastRuns = (history: readonly Operation[]): Answered<'read'> | undefined =>
  answered(history, 'read').findLast(({ answer }) => answer.runs !== undefined);

export const groupBy = <Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> => {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
};

/** Everything about an entry that must be the same whenever it is read. */
export const textOf = ({ seq, kind, context_ref, role, run_id, op_id, payload }: SnapshotEntry): string =>
  canonicalJson([seq, kind, context_ref, role, run_id, op_id, payload] as unknown as Message);

import type { Operation, OperationName } from './operation.ts';

/**
 * A line of a history, in the form of Jepsen's: an operation has an `invoke` and then one of `ok`, `fail` and `info`.
 * Between the two, its process does nothing else; after `info`, never again.
 */
export interface HistoryEvent {
  index: number;
  /** In nanoseconds, by a clock that all processes of the machine share. */
  time: number;
  process: string;
  type: 'invoke' | 'ok' | 'fail' | 'info';
  f: OperationName;
  thread_id: string;
  /** What is asked, with `invoke`; the answer, with `ok`. */
  value?: unknown;
  /** Why it failed, or how its answer was lost. */
  error?: string;
}

/** Puts the events of several recorders into one order, numbered from 0. */
export const merge = (...recorded: (readonly HistoryEvent[])[]): HistoryEvent[] =>
  recorded
    .flat()
    .toSorted((a, b) => a.time - b.time)
    .map((event, index) => ({ ...event, index }));

/** Pairs the events of each operation. One whose process died before its answer counts as `info`. */
export function operationsOf(events: readonly HistoryEvent[]): Operation[] {
  const operations: Operation[] = [];
  const open = new Map<string, Operation>();
  for (const { index, time, process, type, f, thread_id, value, error } of events) {
    if (type === 'invoke') {
      const operation = {
        ...{ f, thread_id, process, call: value, outcome: 'info', answer: undefined, error: undefined },
        ...{ invoked: index, ended: Infinity, invokedAt: time, endedAt: Infinity },
      } as Operation;
      operations.push(operation);
      open.set(process, operation);
      continue;
    }
    const operation = open.get(process);
    if (!operation || type === 'info') continue;
    open.delete(process);
    Object.assign(operation, { outcome: type, answer: value, error, ended: index, endedAt: time });
  }
  return operations;
}

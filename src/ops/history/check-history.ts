import type { HistoryViolation } from './check.ts';
import { operationChecks } from './checks/index.ts';
import { operationsOf, type HistoryEvent } from './event.ts';
import { groupBy } from './select.ts';

/** Finds every contradiction in a history. Events are in order of their index. */
export function checkHistory(events: readonly HistoryEvent[]): HistoryViolation[] {
  const operations = operationsOf(events);
  const threads = [...groupBy(operations, ({ thread_id }) => thread_id).values()];
  return operationChecks.flatMap(({ name, scope, find }) =>
    (scope === 'thread' ? threads : [operations]).flatMap((history) =>
      find(history).map(({ what, by }) => ({
        check: name,
        what,
        thread_id: by[0]!.thread_id,
        operations: by.map(({ invoked }) => invoked),
      })),
    ),
  );
}

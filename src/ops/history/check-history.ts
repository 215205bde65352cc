import { type HistoryViolation, type HistoryCheck, groupBy } from './check.ts';
import { operationsOf, type HistoryEvent } from './event.ts';
import {
  cancelsWin,
  commitsOnce,
  firstDecision,
  inputsOnce,
  neverTwice,
  oneEnd,
  operationsOnce,
  requestsOnce,
  startsOnce,
  reservationsConserved,
} from './checks/once.ts';
import { claimsFold, exclusiveLeases, monotonicFences, oneActiveRun, outcomesStay } from './checks/leases.ts';
import { forksBeginThere, gaplessLog, linearizableAppends } from './checks/log.ts';

/** Finds every contradiction in a history. Events are in order of their index. */
export function checkHistory(events: readonly HistoryEvent[]): HistoryViolation[] {
  const operations = operationsOf(events);
  const threads = [...groupBy(operations, ({ thread_id }) => thread_id).values()];
  return operationChecks.flatMap(({ name, scope, find }) =>
    (scope === 'all' ? [operations] : threads).flatMap((history) =>
      find(history).map(({ what, by }) => ({
        check: name,
        what,
        thread_id: by[0]!.thread_id,
        operations: by.map(({ invoked }) => invoked),
      })),
    ),
  );
}

/** Every check of a history. They read no database: a history is all they know. */
export const operationChecks: readonly HistoryCheck[] = [
  linearizableAppends,
  gaplessLog,
  monotonicFences,
  exclusiveLeases,
  commitsOnce,
  oneActiveRun,
  startsOnce,
  requestsOnce,
  oneEnd,
  cancelsWin,
  inputsOnce,
  operationsOnce,
  firstDecision,
  outcomesStay,
  neverTwice,
  claimsFold,
  forksBeginThere,
  reservationsConserved,
];

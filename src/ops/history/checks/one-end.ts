import type { HistoryCheck } from '../check.ts';
import type { Operation } from '../operation.ts';
import { answered, groupBy, lastRuns } from '../select.ts';

/** The run that an operation ended, and how; undefined if it ended none. */
export function endingOf({ f, call, answer }: Operation): { run: string; status: string } | undefined {
  if (!answer || !(f === 'commit' || f === 'finish' || f === 'cancel') || !answer.finished) return undefined;
  if (f === 'commit' && answer.duplicate) return undefined;
  return { run: call.run_id, status: answer.status ?? '' };
}

export const oneEnd: HistoryCheck = {
  name: 'one-end',
  scope: 'thread',
  promise: 'A run ends once: one operation ends it, with one terminal event, and its status stays.',
  find(history) {
    const endings = history.flatMap((operation) => {
      const ending = endingOf(operation);
      return ending ? [{ ...ending, operation }] : [];
    });
    const read = lastRuns(history);
    const statusOf = new Map(read?.answer.runs!.map(({ id, status }) => [id, status]));
    const twice = [...groupBy(endings, ({ run }) => run)].flatMap(([run, list]) =>
      list.length > 1
        ? [{ what: `run ${run} was ended ${list.length} times`, by: list.map(({ operation }) => operation) }]
        : [],
    );
    const changed = endings
      .filter(({ run, status, operation }) => read && operation.ended < read.invoked && statusOf.get(run) !== status)
      .map(({ run, status, operation }) => ({
        what: `run ${run} ended as ${status} and is ${statusOf.get(run)}`,
        by: [operation, read!],
      }));
    const events = answered(history, 'read').flatMap((one) =>
      (one.answer.runs ?? [])
        .filter(({ terminal }) => terminal.length > 1)
        .map(({ id, terminal }) => ({ what: `run ${id} has the terminal events ${terminal.join(', ')}`, by: [one] })),
    );
    return [...twice, ...changed, ...events];
  },
};

import type { HistoryCheck } from '../check.ts';
import { groupBy, longestRead } from '../select.ts';

export const startsOnce: HistoryCheck = {
  name: 'starts-once',
  scope: 'thread',
  promise: 'A run writes its question to the log once, however often it is claimed.',
  find(history) {
    const read = longestRead(history);
    const questions = (read?.answer.entries ?? []).filter(
      ({ role, run_id, context_ref, refs }) =>
        role === 'user' &&
        run_id !== null &&
        refs['kind'] === undefined &&
        // a question that its strategy asks
        !context_ref?.startsWith(`${run_id}.`),
    );
    return [...groupBy(questions, ({ run_id }) => run_id!)].flatMap(([run, list]) =>
      list.length > 1
        ? [
            {
              what: `the question of run ${run} is in the log at ${list.map(({ seq }) => seq).join(' and ')}`,
              by: [read!],
            },
          ]
        : [],
    );
  },
};

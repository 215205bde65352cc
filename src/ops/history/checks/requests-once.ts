import type { HistoryCheck } from '../check.ts';
import { answered, groupBy } from '../select.ts';

export const requestsOnce: HistoryCheck = {
  name: 'requests-once',
  scope: 'thread',
  promise: 'A request that is sent again is answered with the same run.',
  find: (history) =>
    [...groupBy(answered(history, 'enqueue'), ({ call }) => call.request_id)].flatMap(([request, by]) => {
      const runs = new Set(by.map(({ answer }) => answer.run_id));
      return runs.size > 1 ? [{ what: `request ${request} became the runs ${[...runs].join(' and ')}`, by }] : [];
    }),
};

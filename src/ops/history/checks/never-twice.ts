import type { HistoryCheck } from '../check.ts';
import { all, groupBy } from '../select.ts';

export const neverTwice: HistoryCheck = {
  name: 'never-twice',
  scope: 'thread',
  promise: 'A tool with replay: never is executed at most once for each call.',
  find: (history) =>
    [
      ...groupBy(
        all(history, 'execute').filter(({ call }) => call.replay === 'never'),
        ({ call }) => `${call.run_id} ${call.round}.${call.index}`,
      ),
    ].flatMap(([call, by]) => (by.length > 1 ? [{ what: `call ${call} was executed ${by.length} times`, by }] : [])),
};

import type { HistoryCheck } from '../check.ts';
import { answered, groupBy } from '../select.ts';

export const firstDecision: HistoryCheck = {
  name: 'first-decision',
  scope: 'thread',
  promise: 'The first decision on a tool call counts: the opposite one is refused.',
  find: (history) =>
    [...groupBy(answered(history, 'decide'), ({ call }) => `${call.run_id} ${call.round}.${call.index}`)].flatMap(
      ([call, by]) => {
        const decisions = new Set(by.map(({ answer }) => answer.decision));
        return decisions.size > 1 ? [{ what: `call ${call} was ${[...decisions].join(' and ')}`, by }] : [];
      },
    ),
};

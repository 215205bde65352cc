import type { Found, HistoryCheck } from '../check.ts';
import { answered, before } from '../select.ts';
import { granted } from './monotonic-fences.ts';

export const outcomesStay: HistoryCheck = {
  name: 'outcomes-stay',
  scope: 'thread',
  promise: 'The first stored outcome of a tool call is what every later worker finds.',
  find(history) {
    const records = answered(history, 'record');
    return granted(history).flatMap((claim) =>
      claim.answer.calls.flatMap(({ index, outcome }): Found[] => {
        const { run_id: run } = claim.call;
        const { round } = claim.answer;
        const first = records.find(
          ({ call }) => call.run_id === run && call.round === round && call.index === index && call.outcome !== null,
        );
        if (!first || !before(first, claim) || first.call.outcome === outcome) return [];
        return [
          {
            what: `the outcome of call ${round}.${index} of run ${run} is no longer what was stored`,
            by: [first, claim],
          },
        ];
      }),
    );
  },
};

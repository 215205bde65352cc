import type { Found, HistoryCheck } from '../check.ts';
import type { Operation } from '../operation.ts';
import { before } from '../select.ts';
import { granted } from './monotonic-fences.ts';

export const oneActiveRun: HistoryCheck = {
  name: 'one-active-run',
  scope: 'thread',
  promise: 'A run of a thread starts only after the one before it has ended.',
  find(history) {
    const claims = granted(history);
    return claims.flatMap((claim, i): Found[] => {
      const active = claims
        .slice(0, i)
        .find(
          (other) =>
            other.call.run_id !== claim.call.run_id &&
            before(other, claim) &&
            !history.some(
              (operation) =>
                operation.ended > other.invoked &&
                operation.invoked < claim.ended &&
                mayEnd(operation, other.call.run_id),
            ),
        );
      if (!active) return [];
      const what = `run ${claim.call.run_id} was started while run ${active.call.run_id} was active`;
      return [{ what, by: [active, claim] }];
    });
  },
};

const unfinished = new Set(['waiting', 'queued', 'running', 'suspended']);

/** Whether an operation ended a run, or may have: an interrupt, or a claim that was refused because the run expired. */
function mayEnd({ f, call, outcome, answer }: Operation, run: string): boolean {
  if (outcome === 'fail') return false;
  if (f === 'enqueue') return call.interrupts;
  if (!('run_id' in call) || call.run_id !== run) return false;
  if (f === 'claim') return answer === undefined || (!answer.claimed && !unfinished.has(answer.status ?? ''));
  return f === 'finish' || f === 'cancel' || (f === 'commit' && call.ends);
}

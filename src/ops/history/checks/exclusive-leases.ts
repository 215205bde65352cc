import type { Found, HistoryCheck } from '../check.ts';
import type { Operation } from '../operation.ts';
import { before } from '../select.ts';
import { granted } from './monotonic-fences.ts';

/**
 * A worker whose lease was granted or extended holds the run for at least the length of the lease after it asked, because
 * the database begins to count later. Times are compared only within one machine.
 */
export const exclusiveLeases: HistoryCheck = {
  name: 'exclusive-leases',
  scope: 'thread',
  promise: 'While a lease that a worker was granted lasts, no other worker is given the run.',
  find(history) {
    const claims = granted(history);
    return claims.flatMap((claim): Found[] => {
      const { run_id: run, worker_id: worker } = claim.call;
      const own = history.filter(({ call }) => 'run_id' in call && call.run_id === run);
      const holder = claims
        .filter((other) => other.call.run_id === run && other.answer.lease < claim.answer.lease && before(other, claim))
        .toSorted((a, b) => b.answer.lease - a.answer.lease)[0];
      if (!holder || holder.call.worker_id === worker) return [];
      const { lease } = holder.answer;
      if (own.some((operation) => operation.invoked < claim.ended && givesUp(operation, lease))) return [];
      const kept = own.filter((operation) => before(operation, claim) && extensionOf(operation, lease) > 0);
      const last = kept.toSorted((a, b) => a.invokedAt - b.invokedAt).at(-1);
      if (!last || last.invokedAt + extensionOf(last, lease) * 1e6 <= claim.endedAt) return [];
      return [
        {
          what: `run ${run} was given to ${worker} while lease ${lease} of ${holder.call.worker_id} lasted`,
          by: [last, claim],
        },
      ];
    });
  },
};

/** For how many milliseconds an answer extended a lease. */
function extensionOf({ f, call, answer }: Operation, lease: number): number {
  if (!answer) return 0;
  if (f === 'claim') return answer.claimed && answer.lease === lease ? call.lease_ms : 0;
  if (f === 'renew') return answer.renewed && call.lease === lease ? call.lease_ms : 0;
  // a step that was written before extends nothing
  if (f === 'commit') return !answer.duplicate && call.lease === lease ? call.lease_ms : 0;
  return f === 'record' && call.lease === lease ? call.lease_ms : 0;
}

/** Whether an operation may have ended a lease before its time. */
function givesUp({ f, call, outcome }: Operation, lease: number): boolean {
  if (outcome === 'fail') return false;
  if (f === 'commit') return call.lease === lease && (call.ends || call.gives_up);
  if (f === 'release') return call.lease === lease;
  return f === 'finish';
}

import type { Found, HistoryCheck } from '../check.ts';
import type { Answered, Operation } from '../operation.ts';
import { answered, before, groupBy } from '../select.ts';

type Claim = Answered<'claim'> & { answer: { claimed: true; lease: number } };

/** The claims that gave a worker the run. */
export const granted = (history: readonly Operation[]): Claim[] =>
  answered(history, 'claim').filter((claim): claim is Claim => claim.answer.claimed);

export const monotonicFences: HistoryCheck = {
  name: 'monotonic-fences',
  scope: 'thread',
  promise: 'Each claim of a run raises its lease number, and then nothing is accepted under a lower one.',
  find: (history) =>
    [...groupBy(granted(history), ({ call }) => call.run_id)].flatMap(([run, claims]) => [
      ...notRaised(run, claims),
      ...acceptedAfter(run, claims, history),
    ]),
};

function notRaised(run: string, claims: readonly Claim[]): Found[] {
  return claims.flatMap((claim, i) => {
    const earlier = claims
      .slice(0, i)
      .find((other) =>
        before(other, claim) ? other.answer.lease >= claim.answer.lease : other.answer.lease === claim.answer.lease,
      );
    if (!earlier) return [];
    return [
      {
        what: `lease ${claim.answer.lease} of run ${run} does not exceed ${earlier.answer.lease}`,
        by: [earlier, claim],
      },
    ];
  });
}

/** Writes under a lease that were accepted although they began after a higher one was granted. */
function acceptedAfter(run: string, claims: readonly Claim[], history: readonly Operation[]): Found[] {
  return history.flatMap((write) => {
    const lease = acceptedUnder(write, run);
    if (lease === undefined) return [];
    const higher = claims.find((claim) => claim.answer.lease > lease && before(claim, write));
    if (!higher) return [];
    return [
      {
        what: `${write.f} under lease ${lease} of run ${run} was accepted after lease ${higher.answer.lease}`,
        by: [higher, write],
      },
    ];
  });
}

/** The lease under which a write of a run was accepted. */
function acceptedUnder(write: Operation, run: string): number | undefined {
  if (write.outcome !== 'ok' || !('lease' in write.call) || write.call.run_id !== run) return undefined;
  if (write.f === 'renew' && write.answer!.lost) return undefined;
  if (write.f === 'release' && !write.answer!.released) return undefined;
  if (write.f === 'finish' && !write.answer!.finished) return undefined;
  return write.call.lease ?? undefined;
}

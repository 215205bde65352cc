import { type Found, type HistoryCheck, before, answered, groupBy, longestRead } from '../check.ts';
import type { Operation, Answered, SnapshotEntry } from '../event.ts';
import { foldContext } from '../../../agent/context/fold.ts';
import { canonicalMessage, contextHash } from '../../../agent/context/canonical.ts';
import type { Message } from '../../../agent/context/message.ts';

/**
 * A worker whose lease was granted or extended holds the run for at least the length of the lease after it asked, because
 * the database begins to count later. Times are compared only within one machine.
 */
export const exclusiveLeases: HistoryCheck = {
  name: 'exclusive-leases',
  promise: 'While the lease of a worker lasts, no other worker gets the run.',
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

type Claim = Answered<'claim'> & { answer: { claimed: true; lease: number } };

/** The claims that gave a worker the run. */
const granted = (history: readonly Operation[]): Claim[] =>
  answered(history, 'claim').filter((claim): claim is Claim => claim.answer.claimed);

export const monotonicFences: HistoryCheck = {
  name: 'monotonic-fences',
  promise: 'Each claim of a run raises its lease number. After the claim, writes with a lower number are refused.',
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

/** The hash of a lane's context after the entry `upto`, folded from the log. */
const foldHash = (log: readonly SnapshotEntry[], contextRef: string, upto: number): string =>
  contextHash(
    foldContext(log, contextRef, upto).map((row) => canonicalMessage(row as Partial<Record<keyof Message, unknown>>)),
  );

export const claimsFold: HistoryCheck = {
  name: 'claims-fold',
  promise: 'The context that a claim returns is what the log yields at a moment between the claim and its answer.',
  find(history) {
    const read = longestRead(history);
    if (!read) return [];
    const log = read.answer.entries;
    return granted(history).flatMap((claim): Found[] => {
      if (!before(claim, read)) return [];
      const { context_ref: lane, context_hash: hash, lease, user_seq: userSeq } = claim.answer;
      const first = Math.max(lengthKnown(history, claim.invoked) - 1, userSeq ?? -1);
      // the first step under this lease comes after the claim
      const next = answered(history, 'commit').find(
        ({ call, answer }) => call.run_id === claim.call.run_id && call.lease >= lease && !answer.duplicate,
      );
      const last = Math.min(next?.answer.seq ?? log.length, log.length) - 1;
      for (let upto = Math.min(first, last); upto <= last; upto++) if (foldHash(log, lane, upto) === hash) return [];
      return [
        {
          what: `the context of run ${claim.call.run_id} under lease ${lease} is not the fold of the log`,
          by: [claim, read],
        },
      ];
    });
  },
};

/** How many entries were known before an index of the history. */
const lengthKnown = (history: readonly Operation[], index: number): number =>
  history.reduce((length, { f, call, answer, ended }) => {
    if (!answer || ended >= index) return length;
    if (f === 'append') return Math.max(length, answer.first_seq + call.values.length);
    if (f === 'commit' && answer.seq !== undefined) return Math.max(length, answer.seq + call.entries);
    return f === 'read' ? Math.max(length, answer.entries.length) : length;
  }, 0);

export const oneActiveRun: HistoryCheck = {
  name: 'one-active-run',
  promise: 'A run of a thread starts only after the previous run has ended.',
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

export const outcomesStay: HistoryCheck = {
  name: 'outcomes-stay',
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

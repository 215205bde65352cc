import type { Worker } from 'bullmq';

/** How much longer the lock of a job lasts once its run is claimed. */
const lasting = 5;

/**
 * Has a worker renew the locks of jobs whose runs it has claimed less often: on PostgreSQL every renewal rewrites the row of
 * the job and its index entries, and thousands of jobs may be waiting for their models. A claimed run has a lease, which
 * says whether its worker lives. Until then only the lock does, so it stays short.
 *
 * @param claimOf what stands for the claim of a job's run, a new object for each claim
 */
export function makeLocksLast(
  worker: Pick<Worker, 'extendJobLocks'>,
  claimOf: (jobId: string) => object | undefined,
): void {
  const extend = worker.extendJobLocks.bind(worker);
  const lastingUntil = new WeakMap<object, number>();
  worker.extendJobLocks = async (ids, tokens, durationMs) => {
    // a call without ids is how we ask whether the queue answers
    if (ids.length === 0) return extend(ids, tokens, durationMs);
    const now = performance.now();
    const jobs = ids.map((id, i) => ({ id, token: tokens[i]!, claim: claimOf(id) }));
    const claimed = jobs.filter(({ claim }) => claim && now >= (lastingUntil.get(claim) ?? 0));
    const lostOf = async (some: typeof jobs, ms: number) =>
      some.length === 0
        ? []
        : extend(
            some.map(({ id }) => id),
            some.map(({ token }) => token),
            ms,
          );
    const lost = [
      ...(await lostOf(
        jobs.filter(({ claim }) => !claim),
        durationMs,
      )),
      ...(await lostOf(claimed, durationMs * lasting)),
    ];
    // BullMQ asks again within half of the first duration
    for (const { id, claim } of claimed)
      if (!lost.includes(id)) lastingUntil.set(claim!, now + durationMs * (lasting - 2));
    return lost;
  };
}

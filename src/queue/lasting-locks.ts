import type { Worker } from 'bullmq';

/** How much longer the lock of a job lasts once its run is claimed. */
const lasting = 5;

/**
 * Renews the locks of claimed jobs less often: on PostgreSQL every renewal rewrites the job's row and its index
 * entries, and thousands of jobs may be waiting for their models. A claimed run has a lease, which shows whether its
 * worker is alive. Before the claim only the lock shows that, so it stays short.
 *
 * @param claimOf returns an object that identifies the claim of a job's run, a new one for each claim
 */
export function makeLocksLast(
  worker: Pick<Worker, 'extendJobLocks'>,
  claimOf: (jobId: string) => object | undefined,
): void {
  const extend = worker.extendJobLocks.bind(worker);
  const lastingUntil = new WeakMap<object, number>();
  worker.extendJobLocks = async (ids, tokens, durationMs) => {
    // a call without ids only checks that the queue answers
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
    // BullMQ asks again within half of the original duration
    for (const { id, claim } of claimed)
      if (!lost.includes(id)) lastingUntil.set(claim!, now + durationMs * (lasting - 2));
    return lost;
  };
}

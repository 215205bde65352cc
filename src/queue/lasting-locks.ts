import type { Worker } from 'bullmq';

/** How much longer a renewed lock lasts than the first one. */
const lasting = 5;

/**
 * Has a worker renew the locks of its jobs less often: on PostgreSQL every renewal rewrites the row of the job and its index
 * entries, and thousands of jobs may be waiting for their models. The first lock stays short, because a job whose worker
 * died before it claimed the run is found by that; a claimed run has a lease, which says whether its worker lives.
 */
export function makeLocksLast(worker: Pick<Worker, 'extendJobLocks'>): void {
  const extend = worker.extendJobLocks.bind(worker);
  const lastingUntil = new Map<string, number>();
  worker.extendJobLocks = async (ids, tokens, durationMs) => {
    const now = performance.now();
    for (const [token, until] of lastingUntil) if (until <= now) lastingUntil.delete(token);
    const keys = ids.map((id, i) => `${id} ${tokens[i]}`);
    const due = ids.flatMap((_, i) => (lastingUntil.has(keys[i]!) ? [] : [i]));
    // without ids it is a question whether the queue answers
    if (ids.length > 0 && due.length === 0) return [];
    const lost = await extend(
      due.map((i) => ids[i]!),
      due.map((i) => tokens[i]!),
      durationMs * lasting,
    );
    // BullMQ asks again within half of the first duration
    for (const i of due) if (!lost.includes(ids[i]!)) lastingUntil.set(keys[i]!, now + durationMs * (lasting - 2));
    return lost;
  };
}

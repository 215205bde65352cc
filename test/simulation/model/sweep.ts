import { isOver, jobOf } from './leases.ts';
import { activeRun, hasEnded, type Body, type Run, type Thread } from './state.ts';

type Found = [thread: Thread, run: Run][];

const active = (threads: Iterable<Thread>): Found =>
  [...threads].flatMap((thread) => {
    const run = activeRun(thread);
    return run ? [[thread, run] as [Thread, Run]] : [];
  });

const earliest = (found: Found, limit: number): Found =>
  found.sort(([, a], [, b]) => a.enqueued_at - b.enqueued_at).slice(0, limit);

/** When the run was given to the queue that has been there longest, of those that are queued or running. */
export const oldestDue = (threads: Iterable<Thread>, at: number): number =>
  Math.min(at, ...active(threads).flatMap(([, run]) => (run.suspended_until === null ? [run.enqueued_at] : [])));

/** Runs given to the queue from a moment on. */
const from = (found: Found, since: string): Found => found.filter(([, run]) => run.enqueued_at >= Date.parse(since));

/** Running runs whose lease has run out, or which did not stop after a cancel. */
export function findStranded(
  threads: Iterable<Thread>,
  at: number,
  [graceMs, cancelGraceMs]: number[],
  since: string,
): Body[] {
  const workOf = (run: Run): string | undefined => {
    if (run.status !== 'running') return undefined;
    if (run.cancel_requested_at !== null && run.cancel_requested_at < at - cancelGraceMs!) return 'cancelled';
    return Math.abs(at - run.enqueued_at) > graceMs! && isOver(run, at) ? 'expired' : undefined;
  };
  return from(active(threads), since).flatMap(([thread, run]) => {
    const work = workOf(run);
    return work ? [{ ...jobOf(thread, run), agent_queue: null, taken: true, work }] : [];
  });
}

/** Queued runs whose job was not seen for a while. */
export function findQueued(
  threads: Iterable<Thread>,
  at: number,
  [graceMs, limit]: [number, number],
  since: string,
): Body[] {
  const due = from(active(threads), since).filter(
    ([, run]) => run.status === 'queued' && (run.enqueued_at < at - graceMs || run.enqueued_at > at + graceMs),
  );
  return earliest(due, limit).map(([thread, run]) => ({
    ...jobOf(thread, run),
    taken: run.started_at !== null,
    priority: run.started_at === null ? (run.options?.['priority'] ?? null) : null,
  }));
}

/** Suspended runs with a wait whose time is up. */
export const findExpiredWaits = (threads: Iterable<Thread>, at: number): Body[] =>
  active(threads)
    .filter(([, run]) => run.status === 'suspended' && run.suspended_until! < at)
    .map(([thread, run]) => ({ ...jobOf(thread, run), taken: true }));

/** Runs that no worker has started in time. */
export const findExpiredRuns = (threads: Iterable<Thread>, at: number): Body[] =>
  [...threads].flatMap((thread) =>
    thread.runs
      .filter((run) => run.expires_at !== null && !hasEnded(run) && run.started_at === null && run.expires_at <= at)
      .map(({ id, agent }) => ({ thread_id: thread.id, run_id: id, agent })),
  );

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

/** Running runs whose lease has run out, or which did not stop after a cancel. */
export function findStranded(threads: Iterable<Thread>, at: number, [graceMs, cancelGraceMs]: number[]): Body[] {
  const workOf = (run: Run): string | undefined => {
    if (run.status !== 'running') return undefined;
    if (run.cancel_requested_at !== null && run.cancel_requested_at < at - cancelGraceMs!) return 'cancelled';
    return Math.abs(at - run.enqueued_at) > graceMs! && isOver(run, at) ? 'expired' : undefined;
  };
  return active(threads).flatMap(([thread, run]) => {
    const work = workOf(run);
    return work ? [{ ...jobOf(thread, run), agent_queue: null, taken: true, work }] : [];
  });
}

/** Queued runs whose job was not seen for a while. */
export function findQueued(threads: Iterable<Thread>, at: number, graceMs: number, limit: number): Body[] {
  const due = active(threads).filter(
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

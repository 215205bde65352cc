import type { Database } from '../../postgres/pool.ts';
import { toJob } from '../../queue/job.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { addPromoted } from '../../queue/dispatch.ts';
import type { FinishResult, PromotedRun, QueuedRun } from '../../store/commit-step.ts';

export interface SweepOptions {
  /** Runs given to the queue more recently than this are left alone. */
  graceMs: number;
  /** Runs cancelled longer ago than this and still running are ended without their worker. */
  cancelGraceMs: number;
  limit: number;
  /** Agents whose runs may be taken over from queues of another prefix; none for a queue of this process alone. */
  adoptable: readonly string[];
  onError: (error: unknown) => void;
}

/** Runs of queues with another prefix are left to their own workers this long: after that those are taken for gone. */
const adoptMs = 300_000;

/**
 * Finds runs that nobody works on and the queue does not know, and gives them to the queue again: expired leases, and
 * queued runs whose job was never added or was lost. The `run` table is the outbox; this is what makes it one. Runs that
 * were cancelled and did not stop in time are ended here, and calls that nobody has approved in time are denied.
 *
 * @returns how many jobs were added
 */
export async function sweep(db: Database, queue: RunQueue, options: SweepOptions): Promise<number> {
  const { graceMs, cancelGraceMs, limit, adoptable, onError } = options;
  const found = await db.query<QueuedRun & { work: 'queued' | 'expired' | 'cancelled' | 'unapproved' }>(
    'sweep_active',
    `select thread_id, run_id, agent, enqueue_no, queue_shard, work from (
       select thread_id, id as run_id, agent, enqueue_no, queue_shard, enqueued_at, case
         when status = 'queued' and enqueued_at < clock_timestamp() - case when own then $1::float8 else $5 end * interval '1 ms' then 'queued'
         when status = 'running' and cancel_requested_at < clock_timestamp() - $2::float8 * interval '1 ms' then 'cancelled'
         when status = 'running' and enqueued_at < clock_timestamp() - $1::float8 * interval '1 ms'
           and lease_until < clock_timestamp() - case when own then 0 else $5 end * interval '1 ms' then 'expired'
         when status = 'suspended' and suspended_until < clock_timestamp() - case when own then 0 else $5 end * interval '1 ms' then 'unapproved'
         end as work
       from (select *, queue_prefix = $4 as own from lanefold._run where active) r
       where own or agent = any($6)) due
     where work is not null order by enqueued_at limit $3`,
    [graceMs, cancelGraceMs, limit, queue.prefix, adoptMs, adoptable],
  );
  const due = (work: string): QueuedRun[] => found.filter((run) => run.work === work);
  const unclaimed = [...due('queued'), ...due('expired')];
  const lost: QueuedRun[] = [];
  const present: QueuedRun[] = [];
  if (unclaimed.length > 0) {
    // A queue that does not answer could not take a job either: its runs are left to the next sweep.
    const places = await queue.places(unclaimed).catch(onError);
    for (const [i, place] of (places ?? []).entries()) {
      // The job of an expired run that is at work is that of the dead worker.
      const isLost = place === 'gone' || (place === 'active' && i >= due('queued').length);
      (isLost ? lost : present).push(unclaimed[i]!);
    }
  }
  // Seen: the next sweep looks at others, and no other fleet takes these for forgotten.
  if (present.length > 0) {
    await db.query(
      'sweep_seen',
      `with seen as (
         select k.thread_id, k.id from lanefold._run k
         join jsonb_to_recordset($1) as q (thread_id text, run_id text, enqueue_no int)
           on k.thread_id = q.thread_id and k.id = q.run_id and k.enqueue_no = q.enqueue_no
         where k.active for update of k skip locked)
       update lanefold._run r set enqueued_at = clock_timestamp()
       from seen where r.thread_id = seen.thread_id and r.id = seen.id`,
      [JSON.stringify(present)],
    );
  }
  const raised =
    lost.length === 0
      ? []
      : await db.query<QueuedRun>(
          'sweep_runs',
          `select r.* from jsonb_to_recordset($1) as h (thread_id text, run_id text, enqueue_no int)
           cross join lateral lanefold.requeue_run(h.thread_id, h.run_id, h.enqueue_no, $2) r`,
          [JSON.stringify(lost), { grace_ms: graceMs, prefix: queue.prefix, adopt_ms: adoptMs, adoptable }],
        );
  await Promise.all(raised.map((run) => queue.add(toJob(run), run.queue_shard).catch(onError)));

  const promoted: PromotedRun[] = [];
  for (const run of due('cancelled')) {
    const ended = await cancelWithoutWorker(db, run).catch(onError);
    if (ended?.promoted) promoted.push(ended.promoted);
  }
  for (const run of due('unapproved')) {
    const resumed = await expireApprovals(db, run, queue.prefix).catch(onError);
    if (resumed) promoted.push(resumed);
  }
  await Promise.all(promoted.map((run) => addPromoted(db, queue, run).catch(onError)));
  return promoted.length + raised.length;
}

async function cancelWithoutWorker(db: Database, run: QueuedRun): Promise<FinishResult | undefined> {
  const [row] = await db.query<{ result: FinishResult | null }>(
    'sweep_cancelled',
    'select lanefold.finish_cancelled_run($1, $2) as result',
    [run.thread_id, run.run_id],
  );
  return row?.result ?? undefined;
}

async function expireApprovals(db: Database, run: QueuedRun, prefix: string): Promise<PromotedRun | null | undefined> {
  const [row] = await db.query<{ job: PromotedRun | null }>(
    'sweep_unapproved',
    'select lanefold.expire_approvals($1, $2, $3, $4) as job',
    [run.thread_id, run.run_id, prefix, adoptMs],
  );
  return row?.job;
}

import type { Database } from '../postgres/pool.ts';
import type { RunJob } from '../queue/job.ts';
import type { RunQueue } from '../queue/queue.ts';
import type { FinishResult, PromotedRun } from './commit.ts';

interface Due {
  thread_id: string;
  run_id: string;
  agent: string;
  enqueue_no: number;
  queue_shard: number;
}

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
  const found = await db.query<Due & { status: string }>(
    'sweep_active',
    `select thread_id, id as run_id, agent, enqueue_no, queue_shard, status from lanefold._run
     where active and (queue_prefix = $4 or agent = any($6))
       and (status = 'queued' and enqueued_at < clock_timestamp() - case when queue_prefix = $4 then $1::float8 else $5 end * interval '1 ms'
         or status = 'running' and cancel_requested_at < clock_timestamp() - $2::float8 * interval '1 ms'
         or status = 'suspended' and suspended_until < clock_timestamp())
     order by enqueued_at limit $3`,
    [graceMs, cancelGraceMs, limit, queue.prefix, adoptMs, adoptable],
  );
  const promoted: PromotedRun[] = [];
  for (const run of found.filter(({ status }) => status === 'running')) {
    const ended = await cancelWithoutWorker(db, run).catch(onError);
    if (ended?.promoted) promoted.push(ended.promoted);
  }
  for (const run of found.filter(({ status }) => status === 'suspended')) {
    const resumed = await expireApprovals(db, run, queue.prefix).catch(onError);
    if (resumed) promoted.push(resumed);
  }
  const queued = found.filter(({ status }) => status === 'queued');
  const lost = queued.length > 0 ? await queue.missing(queued) : [];
  const missing = new Set(lost.map((run) => run.run_id));
  // Seen: the next sweep looks at others, and no other fleet takes these for forgotten.
  const present = queued.filter((run) => !missing.has(run.run_id));
  if (present.length > 0) {
    await db.query(
      'sweep_seen',
      `update lanefold._run r set enqueued_at = clock_timestamp()
       from jsonb_to_recordset($1) as q (thread_id text, run_id text, enqueue_no int)
       where r.thread_id = q.thread_id and r.id = q.run_id and r.enqueue_no = q.enqueue_no and r.status = 'queued'`,
      [JSON.stringify(present)],
    );
  }
  const due = await db.query<Due>('sweep_runs', 'select * from lanefold.sweep_runs($1, $2, $3, $4, $5, $6)', [
    graceMs,
    limit,
    JSON.stringify(lost),
    queue.prefix,
    adoptMs,
    adoptable,
  ]);
  for (const run of [...promoted, ...due]) await queue.add(toJob(run), run.queue_shard).catch(onError);
  return promoted.length + due.length;
}

async function cancelWithoutWorker(db: Database, run: Due): Promise<FinishResult> {
  const [row] = await db.query<{ result: FinishResult }>(
    'finish_run',
    'select lanefold.finish_run($1, $2, $3, $4) as result',
    [run.thread_id, run.run_id, null, { status: 'cancelled', reason: 'cancelled' }],
  );
  return row!.result;
}

async function expireApprovals(db: Database, run: Due, prefix: string): Promise<PromotedRun | null> {
  const [row] = await db.query<{ job: PromotedRun | null }>(
    'expire_approvals',
    'select lanefold.expire_approvals($1, $2, $3) as job',
    [run.thread_id, run.run_id, prefix],
  );
  return row!.job;
}

export const toJob = ({ thread_id, run_id, agent, enqueue_no }: Due): RunJob => ({
  thread_id,
  run_id,
  agent,
  enqueue_no,
});

import type { Database } from '../../postgres/pool.ts';
import type { SweepLimits } from './sweep-limits.ts';
import type { QueuedRun } from './queued-run.ts';

/**
 * Gives runs whose jobs the queue has lost a new `enqueue_no`, so that a late job of the old number is refused. Returns
 * the jobs to add; a run that a writer holds, or that somebody else has requeued, is not among them.
 */
export const requeueRuns = (
  db: Database,
  runs: readonly QueuedRun[],
  { graceMs, queuePrefix, adoptMs, adoptable, known: { strategies } }: SweepLimits,
): Promise<QueuedRun[]> =>
  db.query<QueuedRun>(
    'requeue_runs',
    `select r.thread_id, r.run_id, r.agent, r.enqueue_no, r.queue_shard, q.agent_queue
     from jsonb_to_recordset($1) as q (thread_id text, run_id text, enqueue_no int, agent_queue text)
     cross join lateral lanefold.requeue_run(q.thread_id, q.run_id, q.enqueue_no,
       case when q.agent_queue is not null then $2::jsonb || '{"agent_queue": true}' else $2::jsonb end) r`,
    [JSON.stringify(runs), { grace_ms: graceMs, prefix: queuePrefix, adopt_ms: adoptMs, adoptable, strategies }],
  );

import type { Database } from '../../../database/postgres/pool.ts';
import type { MonitorCursor, TakenMonitor } from './take-monitors.ts';

/** A run that has ended, and is in the sample. */
export interface SampledRun {
  threadId: string;
  id: string;
  /** With microseconds. */
  endedAt: string;
}

/** The share of a run: the same for all monitors, so that a larger sample includes a smaller one. 2^32 = 4,294,967,296. */
const share = `('x' || left(md5(r.thread_id || ' ' || r.id), 8))::bit(32)::bigint::float8 / 4294967296.0::float8`;

/**
 * The next runs in the sample of a monitor, in the order in which they ended: completed and failed ones, without those of evals and
 * judges, and without compactions. The index of retention has the runs in this order.
 */
export async function nextRuns(
  db: Database,
  { tenant_id, queue_prefix, agents, sample, until }: TakenMonitor,
  after: MonitorCursor,
  limit: number,
): Promise<{ runs: SampledRun[]; next: MonitorCursor | undefined }> {
  const found = await db.query<SampledRun & Record<string, unknown>>(
    'next_monitored_runs',
    `select r.thread_id as "threadId", r.id, to_jsonb(r.finished_at) #>> '{}' as "endedAt" from lanefold._run r
     where r.finished_at is not null and r.trace_dropped_at is null and r.finished_at >= $1 and r.finished_at <= $2
       and (r.finished_at > $1 or (r.thread_id, r.id) > ($3, $4)) and r.tenant_id = any ($5) and ($6::text is null or r.queue_prefix = $6::text)
       and r.status in ('completed', 'failed') and not coalesce(r.options ? 'compaction', false) and (cardinality($7::text[]) = 0 or r.agent = any ($7::text[])) and ${share} < $8::float8
     order by r.finished_at, r.thread_id, r.id limit $9`,
    [after.read_to, until, after.thread_id, after.run_id, [tenant_id], queue_prefix, agents, sample, limit],
  );
  const last = found.at(-1);
  const full = found.length === limit && last;
  const next = full ? { read_to: last.endedAt, thread_id: last.threadId, run_id: last.id } : undefined;
  const made = await threadsOfEvals(
    db,
    tenant_id,
    found.map(({ threadId }) => threadId),
  );
  return { runs: found.filter(({ threadId }) => !made.has(threadId)), next };
}

async function threadsOfEvals(db: Database, tenant: string, threads: readonly string[]): Promise<Set<string>> {
  if (threads.length === 0) return new Set();
  const rows = await db.query<{ threadId: string }>(
    'threads_of_evals',
    `select thread_id as "threadId" from lanefold._eval_thread where tenant_id = $1 and thread_id = any ($2)`,
    [tenant, [...threads]],
  );
  return new Set(rows.map(({ threadId }) => threadId));
}

import type { Database } from '../../postgres/pool.ts';
import { tenantIs } from '../tenant/tenant-settings.ts';
import type { FleetStats } from '../worker/types.ts';

type Counted = Pick<FleetStats, 'runs' | 'oldestQueuedSeconds' | 'oldestReadySeconds'>;

/** Counts unfinished runs with indexes that hold only those, so that the cost does not grow with history. */
export async function countRuns(db: Database): Promise<Counted> {
  const rows = await db.query<{
    status: keyof Counted['runs'];
    n: number;
    queued: number | null;
    ready: number | null;
  }>(
    'count_runs',
    // a moment in the future, of a run that is to start later, counts as 0
    `select r.status, count(*)::int as n, greatest(0, extract(epoch from c.at - min(r.ready_at)))::float8 as queued,
       greatest(0, extract(epoch from c.at - min(r.ready_at) filter (where r.limited_by is null)))::float8 as ready
     from lanefold._run r cross join (select lanefold._now() as at) c where r.active group by r.status, c.at
     union all select 'waiting', count(*)::int, null, null from lanefold._run where not active and finished_at is null`,
  );
  const runs = { waiting: 0, queued: 0, running: 0, suspended: 0 };
  for (const row of rows) runs[row.status] = row.n;
  const oldest = rows.find((row) => row.status === 'queued');
  return { runs, oldestQueuedSeconds: oldest?.queued ?? 0, oldestReadySeconds: oldest?.ready ?? 0 };
}

/** How many runs that a caller started, or that belong to a tenant, have not ended. */
export async function countUnfinished(db: Database, of: { caller: string } | { tenant: string }): Promise<number> {
  const [name, condition, value] =
    'caller' in of ? ['caller', 'caller = $1', of.caller] : ['tenant_id', tenantIs(db, '$1'), of.tenant];
  const [row] = await db.query<{ runs: number }>(
    `count_unfinished_${name}`,
    `select count(*)::int as runs from lanefold._run where finished_at is null and ${condition}`,
    [value],
  );
  return row!.runs;
}

interface Generation {
  parent_thread_id: string | null;
  fork_seq: string | null;
  erased: boolean;
  others: boolean;
}

/**
 * Whether only these agents have run in a thread, and in the threads whose conversation it continues as a fork. An
 * erased ancestor cannot tell, so it counts as one in which another agent has run. In an ancestor, only runs that had
 * begun by the entry of the fork count; for a run without a user message, such as a compaction, its start time decides.
 * Runs that never began wrote nothing.
 */
export async function ranOnly(db: Database, threadId: string, agents: readonly string[]): Promise<boolean> {
  let id: string | null = threadId;
  let until: string | null = null;
  while (id !== null) {
    const [thread]: Generation[] = await db.query<Generation>(
      'ran_only',
      `select t.parent_thread_id, t.fork_seq, t.erased_at is not null as erased, exists (
         select from lanefold._run r
         where r.thread_id = $1 and (r.agent <> all ($2::text[]) or r.options ? 'handoffs' and exists (
             select from jsonb_array_elements(r.options -> 'handoffs') h where h ->> 'from' <> all ($2::text[]))) and ($3::bigint is null or coalesce(r.user_seq <= $3,
           r.started_at <= (select e.at from lanefold._entry e where e.thread_id = $1 and e.seq = $3)))
       ) as others
       from lanefold.thread t where t.id = $1`,
      [id, agents, until],
    );
    const isAncestor = id !== threadId;
    // the operation itself reports a thread that does not exist
    if (!thread) return !isAncestor;
    if (thread.others || (isAncestor && thread.erased)) return false;
    id = thread.parent_thread_id;
    until = thread.fork_seq;
  }
  return true;
}

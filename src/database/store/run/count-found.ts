import type { RunCounts, RunFilter, RunStatus } from './types.ts';
import type { Database } from '../../postgres/pool.ts';
import { FoundRuns } from './found-runs.ts';

type Row = { since: Date | null; runs: number } & {
  [Key in 'marks' | 'statuses' | 'agents']: RunCounts[Key] | null;
};

/** Counts the runs that a filter finds among the newest `most`. */
export async function countFound(db: Database, filter: RunFilter, most = 5_000): Promise<RunCounts> {
  const found = new FoundRuns(filter);
  const bound = found.indexed.value(most);
  const { also } = found;
  const counts = (what: string, from: string, by: string) =>
    `(select json_agg(x order by x.runs desc) from (select ${what}, count(*)::int as runs from ${from} group by ${by}) x)`;
  const [row] = await db.query<Row>(
    `count_runs_${found.key}`,
    `with seen as materialized (${found.window(`order by created_at desc limit ${bound}`)}),
     found as materialized (select thread_id, id, status, agent, agent_version from seen _run where ${also})
     select case when (select count(*) from seen) = ${bound} then (select min(created_at) from seen) end as since,
       (select count(*)::int from found) as runs,
       ${counts('m.kind as mark', 'found f join lanefold._run_mark m on m.thread_id = f.thread_id and m.run_id = f.id', 'm.kind')} as marks,
       ${counts('status', 'found', 'status')} as statuses,
       ${counts('agent, agent_version as version', 'found', 'agent, agent_version')} as agents`,
    also.values,
  );
  const { since, runs, marks, statuses, agents } = row!;
  return {
    since,
    runs,
    marks: marks ?? [],
    statuses: (statuses ?? []) as { status: RunStatus; runs: number }[],
    agents: agents ?? [],
  };
}

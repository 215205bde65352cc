import type { RunCounts, RunFilter, RunStatus } from './types.ts';
import type { Database } from '../../postgres/pool.ts';
import { markKinds } from '../trace/declaration.ts';
import { narrowed } from '../log/few-threads.ts';
import { FoundRuns } from './found-runs.ts';

type Row = { since: Date | null; runs: number } & {
  [Key in 'marks' | 'statuses' | 'agents']: RunCounts[Key] | null;
};

/** How many runs of each mark are looked at to find out whether earlier runs have it. */
const looked = 200;

/**
 * Counts the runs that a filter finds among the newest `most`. A mark that only earlier ones have counts 0, unless the filter
 * names a mark, its words or metadata find many threads, or the database is distributed.
 *
 * @param most default 5,000; of runs with a mark, each of which is read by its key, 2,500; of those whose threads are read for
 * frequent words or metadata, 1,000
 */
export async function countFound(db: Database, filter: RunFilter, most?: number): Promise<RunCounts> {
  const found = new FoundRuns(db, await narrowed(db, filter));
  const bound = found.indexed.value(most ?? (found.isBroad ? 1_000 : filter.mark === undefined ? 5_000 : 2_500));
  const { also } = found;
  const counts = (what: string, from: string, by: string) =>
    `select ${what}, count(*)::int as runs from ${from} group by ${by}`;
  const listed = (from: string) => `(select json_agg(x order by x.runs desc) from (${from}) x)`;
  const withEarlier = filter.mark === undefined && !found.isBroad && !db.settings.distributed;
  const earlier = withEarlier
    ? `union all select k.mark, 0 from unnest(${also.value(markKinds)}::text[]) as k (mark), since
       where not exists (select from marked where marked.mark = k.mark) and exists (
         select from (select m.thread_id as of_thread, m.run_id from lanefold._run_mark m
                      where m.kind = k.mark and m.created_at < since.at order by m.created_at desc limit ${looked}) m
         join lanefold._run on _run.thread_id = m.of_thread and _run.id = m.run_id where ${found.indexed} and ${also})`
    : '';
  const same = 'm.thread_id = f.thread_id and m.run_id = f.id';
  // the offset keeps the planner from reading the marks of all runs; a node supports none in a subquery
  const marks = db.settings.distributed
    ? `(select thread_id, id from found where notable) f join lanefold._run_mark m on ${same}`
    : `(select thread_id, id from found where notable) f cross join lateral (select m.kind from lanefold._run_mark m where ${same} offset 0) m`;
  const [row] = await db.query<Row>(
    found.named('count_runs'),
    `with seen as materialized (${found.window(`order by created_at desc limit ${bound}`)}),
     found as materialized (select thread_id, id, status, agent, agent_version, notable from seen _run where ${also}),
     since as materialized (select case when count(*) = ${bound} then min(created_at) end as at from seen),
     marked as materialized (${counts('m.kind as mark', marks, 'm.kind')})
     select (select at from since) as since, (select count(*)::int from found) as runs,
       ${listed(`select mark, runs from marked ${earlier}`)} as marks,
       ${listed(counts('status', 'found', 'status'))} as statuses,
       ${listed(counts('agent, agent_version as version', 'found', 'agent, agent_version'))} as agents`,
    also.values,
  );
  const { since, runs, statuses, agents } = row!;
  return {
    since,
    runs,
    marks: row!.marks ?? [],
    statuses: (statuses ?? []) as { status: RunStatus; runs: number }[],
    agents: agents ?? [],
  };
}

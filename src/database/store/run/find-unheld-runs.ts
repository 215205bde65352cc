import type { Database } from '../../postgres/pool.ts';
import { overThreads } from '../each-thread.ts';
import { executing, wantedVersion } from './sweep-limits.ts';
import { readRows } from '../rows.ts';

/** A run, or the active run of a thread. */
export interface RunOrThread {
  threadId: string;
  runId: string | undefined;
}

/** A run that a worker may start or continue now, but that no worker holds. */
export interface UnheldRun {
  threadId: string;
  runId: string;
  agent: string;
  /** The version that it wants: a label or an id; null: any. */
  version: string | null;
  /** The strategy that executes it. */
  strategy: string;
  /** The tools for which it was moved, as `Needs` has them. */
  tools: string[] | null;
  /** First part of the name of its queue. */
  queue: string;
}

const columns = `r.thread_id, r.id as run_id, r.agent, ${wantedVersion('r.options')} as version, ${executing} as strategy,
  case when r.agent_unknown_since is not null then r.unknown_tools end as tools, r.queue_prefix as queue`;
const unheld = `(r.status in ('waiting', 'queued') and coalesce(r.start_at <= c.at, true)
  or r.status = 'running' and lanefold._lease_over(r.lease_until, r.lease_ms, c.at))`;
const clock = 'with c as materialized (select lanefold._now() as at)';

/** Returns the runs that no worker holds, with one index probe for each. */
export const findUnheldRuns = (db: Database, runs: readonly RunOrThread[]): Promise<UnheldRun[]> =>
  overThreads(db, runs, { together: () => findTogether(db, runs), one: (run) => findUnheldRun(db, run) });

const findTogether = (db: Database, runs: readonly RunOrThread[]): Promise<UnheldRun[]> =>
  readRows<UnheldRun>(
    db,
    'find_unheld_runs',
    `${clock}
     select distinct u.thread_id, u.run_id, u.agent, u.version, u.strategy, u.tools, u.queue
     from c, unnest($1::text[], $2::text[]) as w (thread_id, run_id)
     join lateral (
       select ${columns} from lanefold._run r where r.thread_id = w.thread_id and r.id = w.run_id and ${unheld}
       union all
       select ${columns} from lanefold._run r where w.run_id is null and r.thread_id = w.thread_id and r.active and ${unheld}
     ) u on true`,
    [runs.map(({ threadId }) => threadId), runs.map(({ runId }) => runId ?? null)],
  );

/** The same for one run, on the node of its thread. */
const findUnheldRun = (db: Database, { threadId, runId }: RunOrThread): Promise<UnheldRun[]> =>
  readRows<UnheldRun>(
    db,
    runId === undefined ? 'find_unheld_active_run' : 'find_unheld_run',
    `${clock}
     select ${columns} from lanefold._run r, c
     where r.thread_id = $1 and ${runId === undefined ? 'r.active' : 'r.id = $2'} and ${unheld}`,
    runId === undefined ? [threadId] : [threadId, runId],
  );

import type { Database } from '../../postgres/pool.ts';
import { overThreads } from '../each-thread.ts';
import { readRun, toRun, type RunRow } from './read-run.ts';
import type { Run } from './run.ts';

export interface RunKey {
  threadId: string;
  runId: string;
}

/** A run that has ended; if `run` is undefined, the run does not exist. */
export interface AwaitedEnd extends RunKey {
  run: Run | undefined;
}

/** Returns the runs that have ended, with one index probe for each, whatever the planner's statistics say. */
export const runsEnded = (db: Database, runs: readonly RunKey[]): Promise<AwaitedEnd[]> =>
  overThreads(db, runs, { together: () => endsOf(db, runs), one: (run) => endOf(db, run) });

async function endsOf(db: Database, runs: readonly RunKey[]): Promise<AwaitedEnd[]> {
  const rows = await db.query<{ thread_id: string; run_id: string } & Partial<RunRow>>(
    'runs_ended',
    `select w.thread_id, w.run_id, lanefold.read_run(w.thread_id, w.run_id) as run
     from unnest($1::text[], $2::text[]) as w (thread_id, run_id)
     where lanefold.run_ended(w.thread_id, w.run_id)`,
    [runs.map((run) => run.threadId), runs.map((run) => run.runId)],
  );
  return rows.map(({ thread_id: threadId, run_id: runId, run }) => ({
    threadId,
    runId,
    run: run ? toRun({ run }) : undefined,
  }));
}

async function endOf(db: Database, key: RunKey): Promise<AwaitedEnd[]> {
  const run = await readRun(db, key.threadId, key.runId);
  return run && !run.finishedAt ? [] : [{ ...key, run }];
}

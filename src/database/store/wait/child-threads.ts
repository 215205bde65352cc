import type { Database } from '../../postgres/pool.ts';
import { readRows } from '../rows.ts';

/** A call of the thread that asked for a run, with the root of the tree that both are in. */
interface Started {
  runId: string;
  childThreadId: string;
  childRunId: string;
  rootThreadId: string;
  rootRunId: string;
}

interface Descendant {
  threadId: string;
  runId: string;
  parentThreadId: string;
  parentRunId: string;
  rootThreadId: string;
}

/**
 * The threads of the runs that the runs of a thread have started, of those that these have started, and so on. Some may be
 * erased, or never have begun.
 */
export async function findChildThreads(db: Database, threadId: string): Promise<string[]> {
  const started = await readRows<Started>(
    db,
    'started_of_thread',
    `select w.run_id, w.child_thread_id, w.child_run_id,
       coalesce(c.root_thread_id, w.thread_id) as root_thread_id, coalesce(c.root_run_id, w.run_id) as root_run_id
     from lanefold._wait w
     left join lanefold._child_run c on c.thread_id = w.thread_id and c.run_id = w.run_id
     where w.thread_id = $1 and w.request is not null`,
    [threadId],
  );
  if (started.length === 0) return [];
  const rootRuns = [...new Set(started.map((one) => one.rootRunId))];
  const rootThreads = [...new Set(started.map((one) => one.rootThreadId))];
  // not `search`: without an answer from every node, the report would leave out threads in silence
  const ofTrees = await readRows<Descendant>(
    db,
    'runs_of_trees',
    `select thread_id, run_id, parent_thread_id, parent_run_id,
       root_thread_id
     from lanefold._child_run where root_run_id = any ($1) and root_thread_id = any ($2) order by depth`,
    [rootRuns, rootThreads],
  );
  return below(threadId, started, ofTrees);
}

/** @param ofTrees by depth */
function below(threadId: string, started: readonly Started[], ofTrees: readonly Descendant[]): string[] {
  const nameOf = (thread: string, run: string) => `${thread} ${run}`;
  const reached = new Set(started.map((one) => nameOf(one.childThreadId, one.childRunId)));
  for (const { runId } of started) reached.add(nameOf(threadId, runId));
  const found = new Set(started.map((one) => one.childThreadId));
  for (const run of ofTrees) {
    // below its own root, all are its descendants, also those whose parent was erased
    if (run.rootThreadId !== threadId && !reached.has(nameOf(run.parentThreadId, run.parentRunId))) continue;
    reached.add(nameOf(run.threadId, run.runId));
    found.add(run.threadId);
  }
  found.delete(threadId);
  return [...found];
}

/** Those of the threads that exist and are not erased. */
export async function findUnerased(db: Database, threadIds: readonly string[]): Promise<string[]> {
  if (threadIds.length === 0) return [];
  const rows = await db.query<{ id: string }>(
    'unerased_threads',
    'select id from lanefold.thread where id = any ($1) and erased_at is null order by created_at, id',
    [threadIds],
  );
  return rows.map(({ id }) => id);
}

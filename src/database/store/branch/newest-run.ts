import type { Database } from '../../postgres/pool.ts';
import { findOpenRun, type Parent } from './shown-path.ts';

/**
 * The run with which the conversation of a lane ends: the last that waits for its turn, else the active one, else the one that
 * wrote the last message of a run, on the lane or on those that it has left.
 *
 * @param parents where the branches of the thread begin, as `readParents` reads it
 */
export async function findNewestRun(
  db: Database,
  threadId: string,
  contextRef: string,
  parents: ReadonlyMap<string, Parent>,
): Promise<string | undefined> {
  const open = await findOpenRun(db, threadId, contextRef, 'last');
  if (open !== undefined) return open;
  let upto = Number.MAX_SAFE_INTEGER;
  for (let lane = contextRef; ;) {
    const [last] = await db.query<{ run_id: string }>(
      'last_run_on_lane',
      `select run_id from lanefold._entry
       where thread_id = $1 and context_ref = $2 and kind = 'ai_message' and run_id is not null and seq <= $3
       order by seq desc limit 1`,
      [threadId, lane, upto],
    );
    if (last) return last.run_id;
    const parent = parents.get(lane);
    if (!parent) return undefined;
    upto = Math.min(upto, parent.afterSeq);
    lane = parent.parentRef;
  }
}

/** The entry with whose context a run left its lane; null: it wrote no message. */
export async function findEndOfRun(
  db: Database,
  threadId: string,
  runId: string,
  contextRef: string,
): Promise<number | null> {
  const [end] = await db.query<{ seq: number | null }>(
    'end_of_run',
    // the context before a failed run is restored behind its messages
    `select greatest(e.seq, (
       select o.entry_seq from lanefold.context_op o where o.thread_id = $1 and o.op_id = 'restore/' || $2))::float8 as seq
     from (
       select seq from lanefold._entry
       where thread_id = $1 and context_ref = $3 and kind = 'ai_message' and run_id = $2
       order by seq desc limit 1) e`,
    [threadId, runId, contextRef],
  );
  return end?.seq ?? null;
}

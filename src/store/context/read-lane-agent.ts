import type { Database } from '../../postgres/pool.ts';

/** Agent and model of the latest run of a lane, or undefined. */
export async function readLaneAgent(
  db: Database,
  threadId: string,
  contextRef: string,
): Promise<{ agent: string; model: string } | undefined> {
  const [row] = await db.query<{ agent: string; model: string }>(
    'lane_agent',
    `select agent, model from lanefold._run
     where thread_id = $1 and context_ref = $2 and not coalesce(options ? 'compaction', false)
     order by created_at desc limit 1`,
    [threadId, contextRef],
  );
  return row;
}

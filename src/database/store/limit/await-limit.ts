import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { noticed } from '../delivery-notices.ts';
import type { QueuedRun } from '../run/queued-run.ts';

/** Notes for what a queued, unclaimed run waits. Returns false if it is no longer queued. */
export async function awaitLimit(
  db: Database,
  { thread_id, run_id, enqueue_no }: QueuedRun,
  limitedBy: JsonObject,
): Promise<boolean> {
  const [row] = await db.query<{ answer: { waits: boolean } }>(
    'await_limit',
    'select lanefold.await_limit($1, $2, $3, $4) as answer',
    [...[thread_id, run_id, enqueue_no], limitedBy],
  );
  return noticed(db, row!.answer).waits;
}

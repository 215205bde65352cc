import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { HeldLease } from '../run/renew-leases.ts';
import { noticed } from '../delivery-notices.ts';

export interface Delay {
  delayed: boolean;
  cancel_requested?: boolean;
}

/** Returns a run to the queue until a limit lets it go on: see `delay_run`. */
export async function delayRun(db: Database, run: HeldLease, limitedBy: JsonObject): Promise<Delay> {
  const [row] = await db.queryLocking<{ result: Delay }>(
    'delay_run',
    'select lanefold.delay_run($1, $2, $3, $4) as result',
    [run.threadId, run.runId, run.lease, limitedBy],
  );
  return noticed(db, row!.result);
}

import type { JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { HeldLease } from './held-lease.ts';

/** Moves one row of the ledger: `started` before an attempt, or its outcome while siblings still run. */
export async function recordToolCall(
  db: Database,
  run: HeldLease,
  round: number,
  callIndex: number,
  row: JsonObject,
): Promise<void> {
  await db.query('record_tool_call', 'select lanefold.record_tool_call($1, $2, $3, $4, $5, $6, $7)', [
    run.threadId,
    run.runId,
    run.lease,
    run.leaseMs,
    round,
    callIndex,
    row,
  ]);
}

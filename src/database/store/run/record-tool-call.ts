import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { callFunction } from '../call-function.ts';
import type { HeldLease } from './renew-leases.ts';

/** Moves one row of the ledger: `started` before an attempt, or its outcome while siblings still run. */
export async function recordToolCall(
  db: Database,
  run: HeldLease,
  round: number,
  callIndex: number,
  row: JsonObject,
): Promise<void> {
  const { threadId, runId, lease, leaseMs } = run;
  await callFunction(db, 'record_tool_call', { threadId, runId, lease, leaseMs, round, callIndex, p: row });
}

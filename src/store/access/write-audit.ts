import { snakeKeys } from '../../case.ts';
import type { JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';

export interface AuditedAction {
  actor: string;
  /** What was done, such as `approve_tool_call` or `keys.create`. */
  action: string;
  tenantId?: string | undefined;
  threadId?: string | undefined;
  runId?: string | undefined;
  detail?: JsonObject;
}

export async function writeAudit(db: Database, entry: AuditedAction): Promise<void> {
  await db.query('write_audit', 'select lanefold.write_audit($1)', [snakeKeys({ ...entry })]);
}

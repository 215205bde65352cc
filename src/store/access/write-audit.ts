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

/** What is done to a thread is written down for its tenant too, whoever does it. */
export async function writeAudit(db: Database, entry: AuditedAction): Promise<void> {
  await db.query(
    'write_audit',
    `select lanefold.write_audit(jsonb_strip_nulls(jsonb_build_object(
       'tenant_id', (select t.tenant_id from lanefold.thread t where t.id = $1::jsonb ->> 'thread_id'))) || $1::jsonb)`,
    [snakeKeys({ ...entry })],
  );
}

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
  await db.query(
    'write_audit',
    `insert into lanefold._audit (at, tenant_id, actor, action, thread_id, run_id, detail)
     values ((select lanefold._now()), $1, $2, $3, $4, $5, $6)`,
    [
      entry.tenantId ?? null,
      entry.actor,
      entry.action,
      entry.threadId ?? null,
      entry.runId ?? null,
      entry.detail ?? {},
    ],
  );
}

import { snakeKeys } from '../../case.ts';
import type { Database } from '../../postgres/pool.ts';
import { writeAudit, type AuditedAction } from './write-audit.ts';

/**
 * Writes down a read by somebody who is bound to no tenant: of a thread that has one, or, without a thread, over threads where
 * there are tenants. A database without tenants gets no such rows.
 */
export async function auditRead(db: Database, { threadId, ...entry }: AuditedAction): Promise<void> {
  if (threadId !== undefined) {
    await db.query('audit_read', 'select lanefold.audit_read($1, $2)', [threadId, snakeKeys({ ...entry })]);
    return;
  }
  const [row] = await db.query<{ tenants: boolean }>(
    'has_tenants',
    `select exists (select 1 from lanefold.thread where tenant_id < 'default')
       or exists (select 1 from lanefold.thread where tenant_id > 'default') as tenants`,
  );
  if (row!.tenants) await writeAudit(db, entry);
}

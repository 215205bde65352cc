import { snakeKeys, camelKeys } from '../../../base/common/case.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
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

/**
 * SQL that audits an action: `facts` and `threadId` are the numbers of its parameters. An action on a thread is recorded
 * for the thread's tenant, unless the facts name a tenant.
 */
export const writtenAudit = (facts: number, threadId: number): string =>
  `lanefold.write_audit(jsonb_strip_nulls(jsonb_build_object(
     'tenant_id', (select t.tenant_id from lanefold.thread t where t.id = $${threadId}::text))) || $${facts}::jsonb)`;

/** Audits an action that no statement carries out; see `withAudit` for the others. */
export async function writeAudit(db: Database, entry: AuditedAction): Promise<void> {
  const facts = snakeKeys({ ...entry });
  if (!db.settings.distributed)
    return void (await db.query('write_audit', `select ${writtenAudit(1, 2)}`, [facts, entry.threadId ?? null]));
  // the threads are on nodes, and the audit is on the coordinator
  const [thread] =
    entry.threadId === undefined
      ? []
      : await db.query<{ tenant_id: string }>(
          'tenant_of_audited',
          'select t.tenant_id from lanefold.thread t where t.id = $1',
          [entry.threadId],
        );
  await db.query('write_audit_here', 'select lanefold.write_audit($1)', [{ ...thread, ...facts }]);
}

/**
 * Audits a read by a principal without a tenant: a read of a thread that has a tenant or, without a thread, a read
 * across threads in a database with tenants. A database without tenants gets no such rows.
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

export interface AuditEntry {
  /** Ascending, with gaps where a transaction was rolled back. */
  no: number;
  at: Date;
  tenantId: string | null;
  actor: string;
  action: string;
  threadId: string | null;
  runId: string | null;
  detail: JsonObject;
}

export interface AuditQuery {
  /** Entries after this one. */
  afterNo?: number;
  threadId?: string;
  tenantId?: string;
  limit?: number;
}

export async function readAudit(
  db: Database,
  { afterNo = 0, threadId, tenantId, limit = 100 }: AuditQuery,
): Promise<AuditEntry[]> {
  const rows = await db.query(
    'read_audit',
    `select no, at, tenant_id, actor, action, thread_id, run_id, detail from lanefold.audit
     where no > $1 and ($2::text is null or thread_id = $2) and ($3::text is null or tenant_id = $3) order by no limit $4`,
    [afterNo, threadId ?? null, tenantId ?? null, limit],
  );
  return rows.map((row) => ({ ...camelKeys(row), no: Number(row['no']) }) as unknown as AuditEntry);
}

import { camelKeys } from '../../case.ts';
import type { JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';

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

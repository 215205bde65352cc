import type { Database } from '../../postgres/pool.ts';
import { toApiKey, type ApiKey } from './stored-key.ts';

/** Keys from the newest to the oldest, those without a right any more included. */
export async function listKeys(db: Database, id?: string): Promise<ApiKey[]> {
  const rows = await db.query(
    'list_keys',
    'select id, name, allowed, created_by, created_at, expires_at, revoked_at, tenant_id from lanefold.api_key where $1::text is null or id = $1 order by created_at desc',
    [id ?? null],
  );
  return rows.map(toApiKey);
}

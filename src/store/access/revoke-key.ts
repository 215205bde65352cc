import type { Database } from '../../postgres/pool.ts';

/** Ends every secret of a key at once. Returns false if there is no such key. */
export async function revokeKey(db: Database, id: string): Promise<boolean> {
  const rows = await db.query(
    'revoke_key',
    'update lanefold._api_key set revoked_at = coalesce(revoked_at, (select lanefold._now())) where id = $1 returning id',
    [id],
  );
  return rows.length > 0;
}

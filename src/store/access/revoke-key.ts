import type { Database } from '../../postgres/pool.ts';

/** Ends every secret of a key at once. Returns false if there is no such key. */
export async function revokeKey(db: Database, id: string): Promise<boolean> {
  const [row] = await db.query<{ found: boolean }>('revoke_key', 'select lanefold.revoke_key($1) as found', [id]);
  return row!.found;
}

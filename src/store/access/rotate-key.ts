import type { Database } from '../../postgres/pool.ts';

/**
 * Adds a secret to a key; the ones before it end in `overlapMs`. Returns false if there is no such key, or it was revoked.
 */
export async function rotateKey(
  db: Database,
  { id, hash, createdBy, overlapMs }: { id: string; hash: Buffer; createdBy: string; overlapMs: number },
): Promise<boolean> {
  const [row] = await db.query<{ found: boolean }>(
    'rotate_key',
    'select lanefold.rotate_key($1, $2, $3, $4) as found',
    [id, hash, createdBy, overlapMs],
  );
  return row!.found;
}

import type { Database } from '../../postgres/pool.ts';

/**
 * Adds a secret to a key; the ones before it end in `overlapMs`. Returns false if there is no such key, or it was revoked.
 */
export async function rotateKey(
  db: Database,
  { id, hash, createdBy, overlapMs }: { id: string; hash: Buffer; createdBy: string; overlapMs: number },
): Promise<boolean> {
  const rows = await db.query(
    'rotate_key',
    `with newest as (
       select id, name, allowed, expires_at from lanefold._api_key
       where id = $1 and revoked_at is null order by created_at desc limit 1
     ),
     ending as (
       update lanefold._api_key
       set expires_at = least(expires_at, (select lanefold._now()) + $4::float8 * interval '1 ms')
       where id = $1 and revoked_at is null
     )
     insert into lanefold._api_key (id, hash, name, allowed, created_by, created_at, expires_at)
     select id, $2, name, allowed, $3, (select lanefold._now()), expires_at from newest returning id`,
    [id, hash, createdBy, overlapMs],
  );
  return rows.length > 0;
}

import type { Allowed } from '../../access/scope.ts';
import type { Database } from '../../postgres/pool.ts';
import { fromStored } from './stored-key.ts';

/** What the secret with this hash allows. `state` says why a known secret allows nothing any more. */
export interface FoundKey extends Allowed {
  state: 'valid' | 'revoked' | 'expired';
  /** ms until it expires; null: never. */
  validForMs: number | null;
}

/** Finds a key by its id and the hash of its secret. */
export async function findKey(db: Database, id: string, hash: Buffer): Promise<FoundKey | undefined> {
  const [row] = await db.query<{
    allowed: Record<string, unknown>;
    tenant_id: string | null;
    state: FoundKey['state'];
    valid_for_ms: number | null;
  }>(
    'find_key',
    `select allowed, tenant_id, extract(epoch from expires_at - at)::float8 * 1000 as valid_for_ms,
       case when revoked_at is not null then 'revoked' when expires_at <= at then 'expired' else 'valid' end as state
     from lanefold._api_key, (select lanefold._now() as at) c where id = $1 and hash = $2`,
    [id, hash],
  );
  return row && { ...fromStored(row), state: row.state, validForMs: row.valid_for_ms };
}

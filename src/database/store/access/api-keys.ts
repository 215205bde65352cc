import { call } from '../call.ts';
import type { Allowed } from '../../../base/access/principal.ts';
import { camelKeys, snakeKeys } from '../../../base/common/case.ts';
import type { Database } from '../../postgres/pool.ts';
import type { ApiKey } from './types.ts';

/** The rights of a key as they are stored; its tenant has a separate column. */
const toStored = ({ limits, ...allowed }: Omit<Allowed, 'tenant'>): object => ({
  ...snakeKeys(allowed),
  ...(limits ? { limits: snakeKeys(limits) } : {}),
});

const fromStored = (row: { allowed: Record<string, unknown>; tenant_id: string | null }): Allowed => {
  const { limits, ...allowed } = row.allowed;
  return {
    ...camelKeys(allowed),
    ...(limits ? { limits: camelKeys(limits) } : {}),
    ...(row.tenant_id === null ? {} : { tenant: row.tenant_id }),
  } as unknown as Allowed;
};

/** A row of the view `api_key`. */
const toApiKey = (row: Record<string, unknown>): ApiKey => {
  const { allowed, tenant_id, ...columns } = row as Parameters<typeof fromStored>[0];
  return { ...(camelKeys(columns) as Omit<ApiKey, keyof Allowed>), ...fromStored({ allowed, tenant_id }) };
};

interface NewKeyRow {
  id: string;
  hash: Buffer;
  name: string;
  allowed: Allowed;
  createdBy: string;
  /** From when it is stored; undefined: it does not expire. */
  expiresInMs: number | undefined;
}

export async function insertKey(
  db: Database,
  { hash, allowed: { tenant, ...allowed }, ...key }: NewKeyRow,
): Promise<void> {
  await call(db.query, 'create_key', {
    hash,
    p: { ...snakeKeys(key), tenant_id: tenant ?? null, allowed: toStored(allowed) },
  });
}

/** What a known secret allows. `state` says whether it still does, and if not, why. */
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

/** Whether a key has a secret that is still accepted. */
export async function isKeyValid(db: Database, id: string): Promise<boolean> {
  const [row] = await db.query<{ valid: boolean }>(
    'is_key_valid',
    `select exists (select from lanefold._api_key
       where id = $1 and revoked_at is null and (expires_at is null or expires_at > (select lanefold._now()))) as valid`,
    [id],
  );
  return row!.valid;
}

/** Keys, newest first, including revoked and expired ones. */
export async function listKeys(db: Database, id?: string): Promise<ApiKey[]> {
  const rows = await db.query(
    'list_keys',
    'select id, name, allowed, created_by, created_at, expires_at, revoked_at, tenant_id from lanefold.api_key where $1::text is null or id = $1 order by created_at desc',
    [id ?? null],
  );
  return rows.map(toApiKey);
}

/**
 * Adds a secret to a key; earlier ones expire after `overlapMs`. Returns false if there is no such key, or it was
 * revoked.
 */
export async function rotateKey(
  db: Database,
  { id, hash, createdBy, overlapMs }: { id: string; hash: Buffer; createdBy: string; overlapMs: number },
): Promise<boolean> {
  return call(db.query, 'rotate_key', { id, hash, createdBy, overlapMs });
}

/** Revokes every secret of a key at once. Returns false if there is no such key. */
export async function revokeKey(db: Database, id: string, by: string): Promise<boolean> {
  return call(db.query, 'revoke_key', { id, by });
}

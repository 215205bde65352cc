import type { Allowed } from '../../access/scope.ts';
import { snakeKeys } from '../../case.ts';
import type { Database } from '../../postgres/pool.ts';
import { toStored } from './stored-key.ts';

export interface NewKeyRow {
  id: string;
  hash: Buffer;
  name: string;
  allowed: Allowed;
  createdBy: string;
  expiresAt: Date | null;
}

export async function insertKey(
  db: Database,
  { hash, allowed: { tenant, ...allowed }, ...key }: NewKeyRow,
): Promise<void> {
  await db.query('create_key', 'select lanefold.create_key($1, $2)', [
    hash,
    { ...snakeKeys(key), tenant_id: tenant ?? null, allowed: toStored(allowed) },
  ]);
}

import type { Allowed } from '../../access/scope.ts';
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

export async function insertKey(db: Database, key: NewKeyRow): Promise<void> {
  await db.query(
    'insert_key',
    `insert into lanefold._api_key (id, hash, name, allowed, created_by, created_at, expires_at)
     values ($1, $2, $3, $4, $5, lanefold._now(), $6)`,
    [key.id, key.hash, key.name, toStored(key.allowed), key.createdBy, key.expiresAt],
  );
}

import type { Database } from '../../postgres/pool.ts';

/** The last entry of a thread with a chain. */
export interface Head {
  threadId: string;
  tenantId: string;
  seq: number;
  /** Hexadecimal. */
  hash: string;
}

/** The heads of threads with a chain, by their ids, after the thread `after`. */
export async function readHeads(db: Database, after: string, limit: number): Promise<Head[]> {
  const rows = await db.query<Omit<Head, 'seq'> & { seq: string }>(
    'read_heads',
    `select t.id as "threadId", t.tenant_id as "tenantId", e.seq, encode(e.hash, 'hex') as hash
     from lanefold.thread t join lanefold._entry e on e.thread_id = t.id and e.seq = t.rev - 1
     where t.chained and t.id > $1 order by t.id limit $2`,
    [after, limit],
  );
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}

/** The hash of an entry, hexadecimal, or null, and the last `seq` of its thread, -1 where there is none. */
export async function readEntryHash(
  db: Database,
  threadId: string,
  seq: number,
): Promise<{ hash: string | null; last: number }> {
  const [row] = await db.query<{ hash: string | null; last: string }>(
    'read_entry_hash',
    `select (select encode(hash, 'hex') from lanefold._entry where thread_id = $1 and seq = $2) as hash,
       coalesce((select max(seq) from lanefold._entry where thread_id = $1), -1) as last`,
    [threadId, seq],
  );
  return { hash: row!.hash, last: Number(row!.last) };
}

/** The ids of threads with a chain, after `after`. */
export async function readChained(db: Database, after: string, limit: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    'read_chained',
    'select id from lanefold.thread where chained and erased_at is null and id > $1 order by id limit $2',
    [after, limit],
  );
  return rows.map(({ id }) => id);
}

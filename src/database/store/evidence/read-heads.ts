import type { Database } from '../../postgres/pool.ts';
import { readOnce } from './read-log.ts';
import { fromRows } from '../rows.ts';

/** The last entry of a thread with a chain. */
export interface Head {
  threadId: string;
  tenantId: string;
  /** The hash of the first entry, which identifies the thread even if its id is reused. Hashes are hexadecimal. */
  first: string;
  seq: number;
  hash: string;
}

/** The heads of threads with a chain, ordered by thread id, starting after `after`. */
export async function readHeads(db: Database, after: string, limit: number): Promise<Head[]> {
  const heads = await readOnce<object>(
    db,
    `select t.id as thread_id, t.tenant_id, encode(f.hash, 'hex') as first, e.seq, encode(e.hash, 'hex') as hash
     from lanefold.thread t join lanefold._entry e on e.thread_id = t.id and e.seq = t.rev - 1
     join lanefold._entry f on f.thread_id = t.id and f.seq = 0
     where t.chained and e.hash is not null and f.hash is not null and t.id > $1 order by t.id limit $2`,
    [after, limit],
  );
  return fromRows<Omit<Head, 'seq'> & { seq: string }>(heads).map((head) => ({ ...head, seq: Number(head.seq) }));
}

/**
 * The ids, after `after`, of threads that have a chain according to their row or their first entry. The row of an
 * erased thread does not count, because nothing else is left of it.
 */
export async function readChained(db: Database, after: string, limit: number): Promise<string[]> {
  const threads = await readOnce<{ id: string }>(
    db,
    `select t.id from lanefold.thread t left join lanefold._entry f on f.thread_id = t.id and f.seq = 0
     where (t.chained and t.erased_at is null or f.hash is not null) and t.id > $1 order by t.id limit $2`,
    [after, limit],
  );
  return threads.map(({ id }) => id);
}

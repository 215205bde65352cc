import { createHash } from 'node:crypto';
import type { Database } from '../../postgres/pool.ts';
import type { ReadRaw } from '../../postgres/read-snapshot.ts';
import { fromRows } from '../rows.ts';

/** The row of a thread. */
export interface StoredThread {
  tenantId: string;
  /** The number of entries, according to the row. */
  rev: number;
  chained: boolean;
  erased: boolean;
}

/**
 * The log of one thread, read from its tables. Views and functions of the schema are not used: a superuser can replace
 * them.
 */
export interface StoredLog {
  thread(): Promise<StoredThread | undefined>;
  /** Ordered by seq, fetched a few at a time. */
  entries(from?: number | bigint): AsyncGenerator<StoredEntry>;
  /** Whether a large text of the thread is as it was written: its id is made from its hash. */
  hasContent(id: string): Promise<boolean>;
}

/** Yields what `use` yields, reading from one snapshot of the database. */
export const readLog = <T, R>(
  db: Database,
  threadId: string,
  use: (log: StoredLog) => AsyncGenerator<T, R>,
): AsyncGenerator<T, R> => db.snapshot((query) => use(logOf(query, threadId)));

/** The rows of one statement, read from one snapshot of the database. */
export async function readOnce<Row>(db: Database, text: string, values: unknown[]): Promise<Row[]> {
  const rows: Row[] = [];
  const read = db.snapshot(async function* (query) {
    yield* await query<Row>(text, values);
  });
  for await (const row of read) rows.push(row);
  return rows;
}

const declareEntries = `
  declare entries no scroll cursor for
  select seq, thread_id, tenant_id, extract(epoch from at) as at, kind, context_ref, role, op_id, run_id, request_id,
    is_anchor, payload, refs, encode(hash, 'hex') as hash
  from lanefold._entry where thread_id = $1 and seq >= $2 order by seq`;

/** Below 0, so that entries inserted without the functions are found too: the functions write none there. */
const lowest = -(2n ** 63n);

/** Characters of payload per page, roughly: an entry can have megabytes. */
const pageLength = 2 ** 22;
const firstPage = 20;
const longestPage = 500;

const logOf = (query: ReadRaw, threadId: string): StoredLog => ({
  async thread() {
    const [row] = await query<{ tenant_id: string; rev: string; chained: string; erased: string }>(
      'select tenant_id, rev, chained, erased_at is not null as erased from lanefold.thread where id = $1',
      [threadId],
    );
    if (!row) return undefined;
    return { tenantId: row.tenant_id, rev: Number(row.rev), chained: row.chained === 't', erased: row.erased === 't' };
  },
  async *entries(from = lowest) {
    await query(declareEntries, [threadId, from]);
    let limit = firstPage;
    for (;;) {
      const page = await query<StoredEntry>(`fetch ${limit} from entries`);
      yield* page;
      if (page.length < limit) break;
      const length = page.reduce((sum, { payload }) => sum + payload.length, 1);
      limit = Math.max(1, Math.min(longestPage, Math.floor((pageLength * page.length) / length)));
    }
    await query('close entries');
  },
  async hasContent(id) {
    const own = await readContentRow(query, threadId, id);
    const home = own?.home_thread_id == null ? own : await readContentRow(query, own.home_thread_id, id);
    const text = home?.text ?? undefined;
    if (own === undefined || text === undefined) return false;
    const surrogates = text.match(/[\ud800-\udbff]/g)?.length ?? 0;
    return (
      id === `c_${createHash('sha256').update(text).digest('hex').slice(0, 32)}` &&
      own.bytes === String(Buffer.byteLength(text)) &&
      own.chars === String(text.length - surrogates)
    );
  },
});

async function readContentRow(query: ReadRaw, threadId: string, id: string) {
  const [row] = await query<{ home_thread_id: string | null; chars: string; bytes: string; text: string | null }>(
    'select home_thread_id, chars, bytes, text from lanefold.content where thread_id = $1 and id = $2',
    [threadId, id],
  );
  return row;
}

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

/** An entry with its columns as PostgreSQL prints them; `at` in seconds since 1970. */
export interface StoredEntry {
  seq: string;
  thread_id: string;
  tenant_id: string;
  at: string;
  kind: string;
  context_ref: string | null;
  role: string | null;
  op_id: string | null;
  run_id: string | null;
  request_id: string | null;
  is_anchor: string;
  payload: string;
  refs: string | null;
  /** Hexadecimal; null: the entry has none. */
  hash: string | null;
}

const sha256 = (...parts: (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

/** The hash to which the first entry of a thread is chained, as `_chain_start` in db/sql/evidence computes it. */
export const chainStart = (threadId: string): string => sha256(`lanefold ${threadId}`);

/**
 * The hash of an entry that follows one with the hash `before`, as `_entry_hash` in db/sql/evidence computes it: over
 * the text of a jsonb array. PostgreSQL escapes the same characters in strings as JSON.stringify.
 */
export function entryHash(before: string, e: StoredEntry): string {
  const ids = [e.kind, e.context_ref, e.role, e.op_id, e.run_id, e.request_id].map((text) => JSON.stringify(text));
  const items = [JSON.stringify(e.thread_id), JSON.stringify(e.tenant_id), e.seq, microseconds(e.at), ...ids];
  // refs that are null in SQL or in JSON give the same array there, and mean the same to every reader
  const array = `[${[...items, e.is_anchor === 't', e.payload, e.refs ?? 'null'].join(', ')}]`;
  return sha256(Buffer.from(before, 'hex'), array);
}

/** Converts seconds with six decimals. Keeps any other text, such as infinity: no entry was written with it. */
const microseconds = (seconds: string): string =>
  /^-?\d+\.\d{6}$/.test(seconds) ? BigInt(seconds.replace('.', '')).toString() : seconds;

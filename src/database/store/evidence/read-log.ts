import { createHash } from 'node:crypto';
import type { Database } from '../../postgres/pool.ts';
import type { ReadRaw } from '../../postgres/read-snapshot.ts';
import type { StoredEntry } from './entry-hash.ts';

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

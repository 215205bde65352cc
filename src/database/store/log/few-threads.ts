import type { Database } from '../../postgres/pool.ts';
import { Conditions, statementName } from '../rows.ts';
import { tenantIs } from '../tenant/tenant-settings.ts';
import { contains, wrote, wroteLately } from './of-threads.ts';
import type { ThreadFilter } from './types.ts';

/** How many messages or threads a search looks up. */
const most = 2_000;
/** How many threads or runs one request examines for what many threads have: each thread is read. */
export const broadWindow = 2_000;

type Sought = Pick<ThreadFilter, 'text' | 'metadata'>;

/** The newest threads tell whether a word is frequent, which the index of words knows only once it has all of them. */
const sample = { threads: 50, frequent: 10 };

/** A filter whose words and metadata gave way to what a list does with them. */
export type Narrowed<Filter> = Filter & {
  /** The few threads that one of them finds: the list looks at those alone. */
  among?: readonly string[];
  /** What many threads have: the list looks for it in the threads that it examines. */
  broad?: Sought;
};

/**
 * Looks words and metadata up, and tells those that few threads have from those that many have: no plan suits both, and the planner
 * takes a word that it does not know for a frequent one. A distributed database leaves both to each node.
 */
export async function narrowed<Filter extends Sought & Pick<ThreadFilter, 'tenantId'>>(
  db: Database,
  filter: Filter,
): Promise<Narrowed<Filter>> {
  if (db.settings.distributed) return filter;
  const { text, metadata } = filter;
  const few = async (sql: string, value: unknown) => {
    const first = `${sql.replace('$', '$1')} limit ${most + 1}`;
    const rows = await db.query<{ thread_id: string }>('', first, [value]);
    return rows.length > most ? undefined : [...new Set(rows.map((row) => row.thread_id))];
  };
  const isRare = text !== undefined && !(await isFrequent(db, text, filter.tenantId ?? db.tenant));
  const written = isRare ? await few(wrote, text) : undefined;
  const having =
    metadata === undefined || written
      ? undefined
      : await few(`select t.id as thread_id from lanefold.thread t where t.${contains}`, JSON.stringify(metadata));
  const broad = { text: written ? undefined : text, metadata: having ? undefined : metadata };
  return { ...filter, text: undefined, metadata: undefined, among: written ?? having, broad };
}

/** Whether users wrote these words lately in many of the newest threads. */
async function isFrequent(db: Database, text: string, tenantId: string | undefined): Promise<boolean> {
  const where = new Conditions();
  where.fixed('', 'erased_at is null').addVaried('t', tenantIs(db, '$'), tenantId);
  const wroteIn = wroteLately('t.id').replace('$', where.value(text));
  const [row] = await db.query<{ threads: number }>(
    statementName('frequent_words', where.key),
    `select count(*)::int as threads
     from (select id from lanefold.thread where ${where} order by created_at desc, id desc limit ${sample.threads}) t
     where ${wroteIn}`,
    where.values,
  );
  return row!.threads >= sample.frequent;
}

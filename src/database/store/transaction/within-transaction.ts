import { LanefoldError } from '../../../base/errors.ts';
import { fromPostgres } from '../../postgres/errors.ts';
import { sql, type SQL } from 'drizzle-orm/sql';

interface Fault {
  code?: string;
  message?: string;
  hint?: string;
  cause?: unknown;
  meta?: { driverAdapterError?: { cause?: { originalCode?: string; originalMessage?: string; hint?: string } } };
}

/** Tells SQLSTATE from other error codes: those of Node are words, and those of Prisma begin like `P2`. */
const sqlState = /^(?!P[1-9])(?=.*\d)[0-9A-Z]{5}$/;

/** Unwraps the error of PostgreSQL from the error of the caller's library. */
function postgresFault(error: unknown): unknown {
  if (error instanceof LanefoldError) return error;
  const { meta } = error as Fault;
  const told = meta?.driverAdapterError?.cause;
  if (told?.originalCode) {
    const { originalCode: code, originalMessage: message, hint } = told;
    return Object.assign(new Error(message, { cause: error }), { code, ...(hint ? { hint } : {}) });
  }
  for (let fault = error as Fault | undefined; fault; fault = fault.cause as Fault | undefined)
    if (typeof fault === 'object' && sqlState.test(fault.code ?? '')) return fault;
  return error;
}

const savepoint = 'lanefold_call';
/** SQLSTATE of a command that works only in a transaction. */
const noTransaction = '25P01';

/** The last pending call in each transaction. Calls take turns, because concurrent savepoints would undo each other. */
const underWay = new WeakMap<object, Promise<unknown>>();

/**
 * Runs statements in the caller's transaction, one call after the other. Each call takes effect as a whole or not at
 * all: after an error the transaction is as it was before, and the caller may continue with it.
 *
 * @throws LanefoldError `not_a_transaction`, with nothing written
 */
export async function withinTransaction<T>(tx: object, work: (query: Query) => Promise<T>): Promise<T> {
  const adapter = adapterOf(tx);
  if (!adapter) throw notATransaction('is not a transaction of pg, Drizzle, postgres, Kysely or Prisma');
  const before = underWay.get(tx);
  const result = (async () => {
    await before;
    try {
      return await inSavepoint(adapter, tx, work);
    } catch (error) {
      throw fromPostgres(postgresFault(error));
    }
  })();
  underWay.set(
    tx,
    result.catch(() => {}),
  );
  return result;
}

function inSavepoint<T>(adapter: Adapter<object>, tx: object, work: (query: Query) => Promise<T>): Promise<T> {
  const through =
    (client: object): Query =>
    (text, values) =>
      adapter.query(client, text, values);
  if (!adapter.savepoint) return inOwnSavepoint(through(tx), work);
  const result = adapter.savepoint(tx, (inner) => work(through(inner)));
  if (!result) throw notATransaction('is the database, not a transaction of it');
  return result;
}

async function inOwnSavepoint<T>(query: Query, work: (query: Query) => Promise<T>): Promise<T> {
  // PostgreSQL rejects this outside a transaction, even through a pool, so there is no need to inspect the object.
  await query(`savepoint ${savepoint}`, []).catch((error: unknown) => {
    const fault = postgresFault(error) as { code?: string };
    throw fault.code === noTransaction ? notATransaction('has not begun, or is a pool', error) : error;
  });
  try {
    const result = await work(query);
    await query(`release savepoint ${savepoint}`, []);
    return result;
  } catch (error) {
    await query(`rollback to savepoint ${savepoint}`, [])
      .then(() => query(`release savepoint ${savepoint}`, []))
      .catch(() => {});
    throw error;
  }
}

const notATransaction = (why: string, cause?: unknown): LanefoldError =>
  new LanefoldError('not_a_transaction', `tx ${why}, so nothing would be atomic.`, {
    hint: 'Pass the transaction object that your library hands to its callback, or a pg client after begin.',
    cause,
  });

/** A statement for the caller's library: `text` with `$1`, `$2`, …, and its text values. Resolves to its rows. */
type Query = (text: string, values: string[]) => Promise<unknown[]>;

/** One for each library: how to recognise its object, and how to send a statement through it. */
interface Adapter<Client> {
  fits(client: Partial<Client>): boolean;
  query(client: Client, text: string, values: string[]): Promise<unknown[]>;
  /**
   * Runs `work` in a savepoint of the library. For libraries that end their transaction after any error outside such a
   * savepoint. Undefined if the object is not a transaction.
   */
  savepoint?<T>(client: Client, work: (inner: Client) => Promise<T>): Promise<T> | undefined;
}

interface Prisma {
  $queryRawUnsafe(text: string, ...values: string[]): PromiseLike<unknown[]>;
  $executeRawUnsafe(text: string): PromiseLike<unknown>;
}

const prisma: Adapter<Prisma> = {
  fits: (client) => typeof client.$queryRawUnsafe === 'function' && typeof client.$executeRawUnsafe === 'function',
  // sent as a query, a statement without rows fails on some of its engines
  query: async (client, text, values) =>
    returnsRows(text) ? client.$queryRawUnsafe(text, ...values) : (await client.$executeRawUnsafe(text), []),
};

interface Kysely {
  executeQuery(query: object): Promise<{ rows: unknown[] }>;
  getExecutor(): unknown;
}

let queryIds = 0;

const kysely: Adapter<Kysely> = {
  fits: (client) => typeof client.executeQuery === 'function' && typeof client.getExecutor === 'function',
  async query(client, text, values) {
    // as built by its CompiledQuery.raw
    const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] };
    const queryId = { queryId: `lanefold-${(queryIds += 1)}` };
    return (await client.executeQuery({ sql: text, parameters: values, query, queryId })).rows;
  },
};

interface Drizzle {
  execute(query: SQL): PromiseLike<unknown[] | { rows: unknown[] }>;
  transaction<T>(work: (inner: Drizzle) => Promise<T>): Promise<T>;
  /** Only a transaction has it. */
  rollback?(): never;
}

const drizzle: Adapter<Drizzle> = {
  fits: (client) => typeof client.execute === 'function',
  async query(client, text, values) {
    const parts = text
      .split(/\$\d+/)
      .flatMap((part, i) => [sql.raw(part), ...(i < values.length ? [sql`${values[i]}`] : [])]);
    const result = await client.execute(sql.join(parts));
    return Array.isArray(result) ? result : result.rows;
  },
  savepoint: (client, work) => (client.rollback ? client.transaction(work) : undefined),
};

interface PostgresJs {
  unsafe(text: string, values: string[]): PromiseLike<unknown[]>;
  /** Only a transaction has it. */
  savepoint?<T>(work: (inner: PostgresJs) => Promise<T>): Promise<T>;
}

const postgresJs: Adapter<PostgresJs> = {
  fits: (client) => typeof client.unsafe === 'function',
  query: async (client, text, values) => client.unsafe(text, values),
  savepoint: (client, work) => client.savepoint?.(work),
};

interface Pg {
  query(text: string, values: string[]): Promise<{ rows: unknown[] }>;
}

const pg: Adapter<Pg> = {
  fits: (client) => typeof client.query === 'function',
  query: async (client, text, values) => (await client.query(text, values)).rows,
};

const returnsRows = (text: string): boolean => text.startsWith('select');

/** In this order: what Drizzle passes has a `query` as well, but not as a function. */
const adapters = [prisma, kysely, drizzle, postgresJs, pg] as Adapter<object>[];

/** The adapter for an object of one of the libraries; undefined for anything else. */
function adapterOf(client: unknown): Adapter<object> | undefined {
  if ((typeof client !== 'object' && typeof client !== 'function') || client === null) return undefined;
  return adapters.find((candidate) => candidate.fits(client));
}

/**
 * The caller's transaction, as its library hands it out. The types require only what is called, so that any version of
 * the library fits. An object that is not a transaction, such as a pool, fits none of them.
 */
export type Transaction =
  PgTransaction | DrizzleTransaction | PostgresJsTransaction | KyselyTransaction | PrismaTransaction;

/** A client of `pg` between `begin` and `commit`. */
export interface PgTransaction {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  /** Only a pool has it. */
  totalCount?: never;
}

/** What `db.transaction` of Drizzle passes, over `pg` or `postgres`. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>;
  rollback(): never;
}

/** What `sql.begin` of `postgres` (postgres-js) passes. */
export interface PostgresJsTransaction {
  unsafe(text: string, values?: never[]): PromiseLike<readonly unknown[]>;
  savepoint: unknown;
}

/** What `db.transaction().execute` of Kysely passes. */
export interface KyselyTransaction {
  executeQuery(query: never): Promise<{ rows: unknown[] }>;
  readonly isTransaction: true;
}

/** What the interactive `$transaction` of Prisma passes. */
export interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: never[]): PromiseLike<unknown>;
  $executeRawUnsafe(text: string): PromiseLike<unknown>;
  /** Only the client has it. */
  $connect?: never;
}

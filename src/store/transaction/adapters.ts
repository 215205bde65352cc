import { sql, type SQL } from 'drizzle-orm/sql';

/** A statement for the caller's library: `text` with `$1`, `$2`, …, and its text values. Resolves to its rows. */
export type Query = (text: string, values: string[]) => Promise<unknown[]>;

/** One for each library: how to recognise its object, and how to send a statement through it. */
export interface Adapter<Client> {
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
export function adapterOf(client: unknown): Adapter<object> | undefined {
  if ((typeof client !== 'object' && typeof client !== 'function') || client === null) return undefined;
  return adapters.find((candidate) => candidate.fits(client));
}

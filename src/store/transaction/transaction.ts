/**
 * The caller's own transaction, as its library hands it out. The types ask only for what is called, so that any version of
 * the library fits; what is no transaction, such as a pool, fits none of them.
 */
export type Transaction =
  PgTransaction | DrizzleTransaction | PostgresJsTransaction | KyselyTransaction | PrismaTransaction;

/** A client of `pg` between `begin` and `commit`. */
export interface PgTransaction {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  /** What tells a pool. */
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
  /** What tells the client. */
  $connect?: never;
}

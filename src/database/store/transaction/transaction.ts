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

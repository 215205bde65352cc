import { sql } from 'drizzle-orm';
import { drizzle as drizzleOverPg } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOverPostgresJs } from 'drizzle-orm/postgres-js';
import { Kysely, PostgresDialect, sql as kyselySql } from 'kysely';
import type { Transaction } from 'lanefold';
import postgres from 'postgres';
import { openPrisma } from './prisma.ts';
import { openPool } from './pool.ts';

export interface Transactions {
  /** Does the work in a transaction; resolves when it commits, rejects when it rolls back. */
  transact(work: (tx: Transaction, note: (text: string) => Promise<unknown>) => Promise<void>): Promise<void>;
  /** Objects of the library that are no transaction. */
  none: Record<string, unknown>;
  close(): Promise<unknown>;
}

const insert = 'insert into app_note values ($1)';

const openers: Record<string, (url: string) => Transactions | Promise<Transactions>> = {
  async 'a pg client'(url) {
    const pool = openPool({ connectionString: url, max: 2 });
    const idle = await pool.connect();
    return {
      async transact(work) {
        const client = await pool.connect();
        try {
          await client.query('begin');
          await work(client, (text) => client.query(insert, [text]));
          await client.query('commit');
        } catch (error) {
          await client.query('rollback');
          throw error;
        } finally {
          client.release();
        }
      },
      none: { 'a client without begin': idle, 'a pool': pool },
      close() {
        idle.release();
        return pool.end();
      },
    };
  },

  'Drizzle over pg'(url) {
    const pool = openPool({ connectionString: url, max: 2 });
    const db = drizzleOverPg(pool);
    return {
      transact: (work) =>
        db.transaction((tx) => work(tx, (text) => tx.execute(sql`insert into app_note values (${text})`))),
      none: { 'the database': db },
      close: () => pool.end(),
    };
  },

  'Drizzle over postgres-js'(url) {
    const client = postgres(url, { max: 2, onnotice: () => {} });
    const db = drizzleOverPostgresJs(client);
    return {
      transact: (work) =>
        db.transaction((tx) => work(tx, (text) => tx.execute(sql`insert into app_note values (${text})`))),
      none: { 'the database': db },
      close: () => client.end(),
    };
  },

  'postgres-js'(url) {
    const client = postgres(url, { max: 2, onnotice: () => {} });
    return {
      transact: async (work) => {
        await client.begin((tx) => work(tx, (text) => tx.unsafe(insert, [text])));
      },
      none: { 'the client': client },
      close: () => client.end(),
    };
  },

  Kysely(url) {
    const pool = openPool({ connectionString: url, max: 2 });
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
    return {
      transact: (work) =>
        db
          .transaction()
          .execute((tx) => work(tx, (text) => kyselySql`insert into app_note values (${text})`.execute(tx))),
      none: { 'the database': db },
      close: () => db.destroy(),
    };
  },

  Prisma(url) {
    const prisma = openPrisma(url);
    return {
      transact: (work) => prisma.$transaction((tx) => work(tx, (text) => tx.$executeRawUnsafe(insert, text))),
      none: { 'the client': prisma },
      close: () => prisma.$disconnect(),
    };
  },
};

export const kinds = Object.keys(openers);

export const openTransactions = async (kind: string, url: string): Promise<Transactions> => openers[kind]!(url);

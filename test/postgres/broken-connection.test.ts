import type pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/database/postgres/pool.ts';
import { openConnections } from '../../src/runs/queue/connection.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase()));
afterAll(() => database?.drop());

const pools: [string, () => pg.Pool][] = [
  ['our statements', () => openDatabase({ url: database.url }).pool],
  ['the queue', () => openConnections(undefined, database.url).open(false) as never],
];

test.each(pools)(
  'a checked-out connection of the %s pool that breaks fails its statement, not the process',
  async (_, open) => {
    const pool = open();
    pool.on('error', () => {});
    onTestFinished(() => pool.end());
    const uncaught: unknown[] = [];
    const note = (error: unknown) => void uncaught.push(error);
    process.on('uncaughtException', note);
    onTestFinished(() => void process.off('uncaughtException', note));

    const [lent, other] = [await pool.connect(), await pool.connect()];
    const { rows } = await lent.query<{ pid: number }>('select pg_backend_pid() as pid');
    const asleep = lent.query('select pg_sleep(60)');
    const [broken] = await Promise.allSettled([asleep, other.query('select pg_terminate_backend($1)', [rows[0]!.pid])]);
    expect(broken).toMatchObject({ status: 'rejected', reason: { code: '57P01' } });
    await expect(lent.query('select 1')).rejects.toThrow();
    lent.release(true);
    expect((await other.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    other.release();
    expect(uncaught).toEqual([]);
  },
);

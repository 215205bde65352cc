import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/postgres/pool.ts';
import { listThreads } from '../../src/database/store/log/list-threads.ts';
import { countFound } from '../../src/database/store/run/count-found.ts';
import { listRuns } from '../../src/database/store/run/list-runs.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { openLog, type TestLog } from './helpers.ts';
import { planNodes, type Explained } from './plan.ts';

let log: TestLog;
beforeAll(async () => {
  log = await openLog();
});
afterAll(() => log.drop());

/** How many statements a list sends, and how many of them PostgreSQL would start parallel workers for, if it started them for all. */
async function sent(list: (db: Database) => Promise<unknown>): Promise<{ statements: number; parallel: number }> {
  const client = await log.pool.connect();
  const seen = { statements: 0, parallel: 0 };
  try {
    await client.query(
      `select set_config(name, 'on', false) from pg_settings where name in ('debug_parallel_query', 'force_parallel_mode')`,
    );
    const query = async (_: string, text: string, values: unknown[] = []) => {
      const { rows } = await client.query<Explained>(`explain (format json) ${text}`, values);
      seen.statements += 1;
      if (planNodes(rows[0]!).some((node) => node['Node Type'].startsWith('Gather'))) seen.parallel += 1;
      return (await client.query<object>(text, values)).rows;
    };
    await list({ ...log.db, query } as unknown as Database);
  } finally {
    client.release(true);
  }
  return seen;
}

test.skipIf(citusLacks.plans)('lists of threads and runs start no parallel workers', async () => {
  const threads = [
    {},
    { mark: 'tool_failed' },
    { status: 'failed' },
    { agent: 'a', order: 'asked' },
    { version: 'v' },
  ] as const;
  for (const filter of threads)
    expect(await sent((db) => listThreads(db, { ...filter, limit: 10 }))).toMatchObject({ parallel: 0 });
  const runs = [{}, { mark: 'tool_failed' }, { status: 'completed' }, { model: 'm' }, { text: 'umbrella' }] as const;
  for (const filter of runs) {
    const listed = await sent((db) => listRuns(db, { ...filter, limit: 10 }));
    const counted = await sent((db) => countFound(db, filter));
    expect([listed.statements > 0, listed.parallel, counted.parallel]).toEqual([true, 0, 0]);
  }
});

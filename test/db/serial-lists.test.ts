import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { listThreads } from '../../src/database/store/log/list-threads.ts';
import { countFound } from '../../src/database/store/run/count-found.ts';
import { listRuns } from '../../src/database/store/run/list-runs.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { openLog, type TestLog } from './helpers.ts';
import { planNodes, type Explained } from './plan.ts';

let log: TestLog;
/** Starts parallel workers for every statement that may have some, and compiles what it may. */
let eager: Database;
beforeAll(async () => {
  log = await openLog();
  const { rows } = await log.pool.query<{ name: string }>(
    `select name from pg_settings where name in ('debug_parallel_query', 'force_parallel_mode')`,
  );
  eager = openDatabase({ url: `${log.url}?options=${encodeURIComponent(`-c ${rows[0]!.name}=on -c jit=on`)}`, max: 1 });
});
afterAll(async () => {
  await eager.close();
  await log.drop();
});

async function isParallel(db: Database, text: string, values: unknown[] = []): Promise<boolean> {
  const [plan] = await db.query<object>('', `explain (format json) ${text}`, values);
  return planNodes(plan as Explained).some((node) => node['Node Type'].startsWith('Gather'));
}

/** How many statements a list sends, and how many of them start parallel workers where PostgreSQL would start some for all. */
async function sent(list: (db: Database) => Promise<unknown>): Promise<{ statements: number; parallel: number }> {
  const seen = { statements: 0, parallel: 0 };
  const query = async (_: string, text: string, values: unknown[] = []) => {
    seen.statements += 1;
    if (await isParallel(eager.reader, text, values)) seen.parallel += 1;
    return log.db.query<object>('', text, values);
  };
  await list({ ...log.db, query } as unknown as Database);
  return seen;
}

test.skipIf(citusLacks.plans)('lists of threads and runs start no parallel workers', async () => {
  expect(await isParallel(eager, 'select count(*) from lanefold._run')).toBe(true);
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

test.skipIf(citusLacks.plans)('lists and sweeps are not compiled', async () => {
  const compiles = "select current_setting('jit') as jit";
  expect(await eager.query('', compiles)).toEqual([{ jit: 'on' }]);
  expect(await eager.reader.query('', compiles)).toEqual([{ jit: 'off' }]);
  expect(await eager.queryLong('', compiles)).toEqual([{ jit: 'off' }]);
});

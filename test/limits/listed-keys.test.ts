import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { usageOf } from '../../src/runs/operations/limits/usage.ts';
import type { Database } from '../../src/database/postgres/pool.ts';
import { refused, openLog, rows, type TestLog } from '../db/helpers.ts';
import { rowsReadOf, type Explained } from '../db/plan.ts';
import { cases } from '../support/cases.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { limitsOf } from './log-limits.ts';

let log: TestLog;
let usage: ReturnType<typeof usageOf>['usage'];
let totals: ReturnType<typeof usageOf>['totals'];

/** Buckets of `keys` keys, `k0`, `k1` and so on; runs wait for every `each`th. Each has used its number. */
const fill = (name: string, keys: number, each: number) =>
  rows(
    log.db,
    `insert into lanefold._limit_bucket (owner, name, key, slice, used, reserved, total, touched_at, waiting, ring)
     select '*', $1, 'k' || n, 0, n, 0, n, now(), case when n % $3 = 0 then 2 else 0 end, array[n]
     from generate_series(0, $2::int - 1) n`,
    name,
    keys,
    each,
  );

const customers = { kind: 'concurrency', amount: 10_000, scope: { customer: '*' } };
const many = 5_000;

beforeAll(async () => {
  log = await openLog();
  ({ usage, totals } = usageOf(log.db));
  const { set } = limitsOf(log);
  for (const name of ['few', 'many', 'odd']) await set(name, customers);
  await set('single', { ...customers, scope: {} });
  await set('narrowed', { ...customers, scope: {} });
  await fill('few', 12, 5);
  await fill('many', many, 100);
  await fill('narrowed', many, 1);
  await rows(log.db, "update lanefold._limit_bucket set key = 'a/b %2F' || key where name = 'odd'");
  await rows(log.db, 'analyze lanefold._limit_bucket');
});
afterAll(() => log.drop());

/** All keys of a limit, page by page. */
async function paged(name: string, limit: number): Promise<string[]> {
  const keys: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await usage({ name, limit, ...(after === undefined ? {} : { after }) });
    keys.push(...page.map(({ key }) => key));
    if (page.length < limit) return keys;
    after = page.at(-1)!.cursor;
  }
}

/** How many buckets a look-up reads. */
async function bucketsRead(look: (of: ReturnType<typeof usageOf>) => Promise<unknown>): Promise<number> {
  let read = 0;
  const query = async (_: string, text: string, values: unknown[] = []) => {
    const [explained] = await rows<Explained>(log.db, `explain (analyze, format json) ${text}`, ...values);
    read += rowsReadOf('_limit_bucket', explained!);
    return [];
  };
  const db = { query, settings: {}, tenant: undefined };
  await look(usageOf({ ...db, reader: db } as unknown as Database));
  return read;
}

describe('the keys of a limit', () => {
  test('are listed page by page, each once, those that runs wait for first', async () => {
    const expected = ['k0', 'k10', 'k5', 'k1', 'k11', 'k2', 'k3', 'k4', 'k6', 'k7', 'k8', 'k9'];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 14 }), async (limit) => {
        expect(await paged('few', limit)).toEqual(expected);
      }),
      { numRuns: cases(4) },
    );
    const all = await paged('many', 700);
    expect([all.length, new Set(all).size]).toEqual([many, many]);
    expect(all.slice(0, 50).every((key) => key === 'k0' || key.endsWith('00'))).toBe(true);
  });

  test('may be any text', async () => {
    const keys = ['a/b', '%2F', 'ü %', '-', 'a/b/c'];
    for (const key of keys) {
      await rows(
        log.db,
        `insert into lanefold._limit_bucket (owner, name, key, slice, used, reserved, total, touched_at, ring)
         values ('*', 'odd', $1, 0, 0, 0, 0, now(), '{0}')`,
        key,
      );
    }
    expect((await paged('odd', 1)).toSorted()).toEqual(keys.toSorted());
  });

  test.skipIf(citusLacks.plans)('are read no further than the page goes', async () => {
    // each is found in the index, and then in the view
    expect(await bucketsRead((of) => of.usage({ limit: 10 }))).toBeLessThan(100);
    const deep = (await usage({ name: 'many', limit: 1_000 })).at(-1)!.cursor;
    expect(await bucketsRead((of) => of.usage({ after: deep, limit: 10 }))).toBeLessThan(50);
    expect(await bucketsRead((of) => of.usage({ name: 'narrowed', limit: 10 }))).toBeLessThan(10);
  });

  test('of a scope without * are one, before anything has used it, and after the scope was narrowed', async () => {
    for (const name of ['single', 'narrowed']) {
      const one = await usage({ name, limit: 1 });
      expect(one).toMatchObject([{ key: '', amount: 10_000, used: 0, waiting: 0, total: 0, slices: null }]);
      expect(await usage({ after: one[0]!.cursor })).toEqual([]);
    }
  });

  test('continue only after a key of the list', async () => {
    for (const after of ['nonsense', '*/many/maybe/k1', '*/many/true/%', 'a/b/c/d/e'])
      await refused(usage({ after }), 'invalid_input');
    expect(await usage({ after: '*/nowhere/true/k1' })).toEqual([]);
  });
});

describe('the totals of limits', () => {
  test('count at most 1,000 keys of each, and say so', async () => {
    const sum = (n: number) => (n * (n - 1)) / 2;
    expect(await totals()).toMatchObject([
      { name: 'few', keys: 12, total: sum(12), waiting: 6, usedRatio: 11 / 10_000 },
      // the ratio is that of one of the first keys
      { name: 'many', keys: 1_000, total: null, waiting: 100 },
      { name: 'narrowed', keys: 1, total: 0, waiting: 0, usedRatio: 0 },
      { name: 'odd', total: 0 },
      { name: 'single', keys: 1, total: 0, waiting: 0, usedRatio: 0 },
    ]);
    await rows(
      log.db,
      `insert into lanefold._limit_bucket (owner, name, key, slice, used, reserved, total, touched_at, ring)
       values ('*', 'few', '', 0, 0, 0, 1000, now(), '{0}')`,
    );
    expect((await totals())[0]).toMatchObject({ keys: 12, total: sum(12) + 1_000 });
  });

  test.skipIf(citusLacks.plans)('read no more keys than they count', async () => {
    // each is found in the index, and then in the view
    expect(await bucketsRead((of) => of.totals())).toBeLessThan(2 * 1_001 + 100);
  });
});

test.skipIf(citusLacks.plans)(
  'a run that waits for a key moves no other one, and touches the index only if it is the first',
  async () => {
    const updated = async (...waiting: number[]) => {
      const client = await log.pool.connect();
      const hot = async (): Promise<number> => {
        const text = "select pg_stat_get_xact_tuples_hot_updated('lanefold._limit_bucket'::regclass)::int as hot";
        return (await client.query<{ hot: number }>(text)).rows[0]!.hot;
      };
      const text = "update lanefold._limit_bucket set waiting = $1, used = used + 1 where name = 'few' and key = 'k1'";
      try {
        await client.query('begin');
        const before = await hot();
        for (const n of waiting) await client.query(text, [n]);
        return (await hot()) - before;
      } finally {
        await client.query('rollback');
        client.release();
      }
    };
    expect(await updated(0, 0)).toBe(2);
    expect(await updated(1)).toBe(0);
    expect(await updated(1, 2, 3)).toBe(2);
  },
);

// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { startProgram, type Program } from './program.ts';

let database: TestDatabase;
let program: Program;
let url: string;

beforeAll(async () => {
  database = await createDatabase({ empty: true });
  program = startProgram('examples/http-handler/main.ts', { env: { DATABASE_URL: database.url, PORT: '0' } });
  url = (await program.says(/orders at (\S+)\n/))[1]!;
});
afterAll(async () => {
  program.stop();
  await program.ended;
  await database.drop();
});

const order = async (body: unknown) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const count = async () => {
  const { rows } = await database.pool.query(`select (select count(*) from example_orders)::int as orders,
    (select count(*) from lanefold.run)::int as runs, (select count(*) from lanefold.thread)::int as threads`);
  return rows[0] as { orders: number; runs: number; threads: number };
};

test('an order and its run are one transaction, and the agent answers', async () => {
  const { status, body } = await order({ item: 'lamp', quantity: 2 });
  expect([status, body]).toMatchObject([202, { item: 'lamp', quantity: 2 }]);
  const done = await until('the run has ended', async () => {
    const now = (await (await fetch(`${url}/${body['id'] as number}`)).json()) as { status: string; answer: string };
    return now.status === 'completed' && now;
  });
  expect(done.answer).toContain('stock says');
  expect(await count()).toEqual({ orders: 1, runs: 1, threads: 1 });
});

test('a rollback after the enqueue leaves nothing', async () => {
  const before = await count();
  expect(await order({ item: 'lamp', quantity: 5_000 })).toMatchObject({ status: 422 });
  expect(await count()).toEqual(before);
});

test('bad input is an answer, not a fault', async () => {
  expect(await order({ item: '', quantity: 1.5 })).toMatchObject({ status: 400 });
  expect((await fetch(`${url}/99`)).status).toBe(404);
});

test('it stops when asked', async () => {
  program.stop();
  expect(await program.ended).toMatchObject({ code: 0, errors: '' });
});

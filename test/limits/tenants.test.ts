import { randomBytes } from 'node:crypto';
import { defineAgent, type Lanefold } from 'lanefold';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { placeKey, placesOf, valueOf } from '../../src/agent/limits/dimensions.ts';
import type { Limit } from '../../src/agent/limits/limit.ts';
import { statements, urlAs } from '../support/citus.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

let lanefold: TestLanefold;
beforeAll(async () => {
  lanefold = await startLanefold({ agents: [defineAgent({ name: 'agent', model: 'scripted:["done"]' })] });
  await lanefold.startWorker();
});
afterAll(() => lanefold?.close());

const ask = async (on: Pick<Lanefold, 'runs'>, client: string) => {
  const run = await on.runs.enqueue({ agent: 'agent', input: 'hi', limitKeys: { client } });
  return (await on.runs.wait(run)).terminationReason;
};

test('a tenant neither uses up nor sees what another one has of a value that requests choose', async () => {
  const { limits } = lanefold;
  const scope = { client: '*' };
  await limits.set('runs', { kind: 'runs', amount: 2, per: 'day', scope, amounts: { big: 3 }, onExhausted: 'end' });
  const [acme, bolt] = [lanefold.forTenant('acme'), lanefold.forTenant('bolt')];
  for (const on of [acme, bolt, lanefold]) {
    expect([await ask(on, 'c'), await ask(on, 'c')]).toEqual(['final_answer', 'final_answer']);
    expect(await ask(on, 'c')).toBe('budget_exhausted');
    // other amounts name the value, whichever caller chose it
    expect([await ask(on, 'big'), await ask(on, 'big'), await ask(on, 'big')]).not.toContain('budget_exhausted');
    expect(await ask(on, 'big')).toBe('budget_exhausted');
  }
  const usage = await limits.usage({ name: 'runs' });
  expect(Object.fromEntries(usage.map(({ key, amount, used }) => [key, [amount, used]]))).toEqual({
    c: [2, 2],
    big: [3, 3],
    '//acme/c': [2, 2],
    '//acme/big': [3, 3],
    '//bolt/c': [2, 2],
    '//bolt/big': [3, 3],
  });
});

test('a limit says nothing about the limits of others', async () => {
  const { limits } = lanefold.forTenant('acme');
  const definition = { kind: 'runs', amount: 1, per: 'day' } as const;
  const set = await limits.set('own', definition);
  expect(set).not.toHaveProperty('version');
  const role = `limits_reader_${randomBytes(4).toString('hex')}`;
  const { url, pool } = lanefold.database;
  await statements(url, `create role ${role} login password 'p'`);
  await pool.query("select lanefold.grant_role($1, 'reader', 'acme')", [role]);
  const reader = new pg.Client({ connectionString: urlAs(url, role, 'p') });
  await reader.connect();
  try {
    const seen = async () => (await reader.query('select * from lanefold.limit_usage')).rows as unknown[];
    const before = await seen();
    expect(before).toMatchObject([{ name: 'own', version: null }]);
    await lanefold.forTenant('bolt').limits.set('theirs', definition);
    await lanefold.limits.set('another', definition);
    expect(await seen()).toEqual(before);
    expect(await limits.list()).toEqual([set]);
    expect(await limits.set('own', definition)).toEqual(set);
  } finally {
    await reader.end();
    await pool.query('select lanefold.revoke_role($1)', [role]);
    await statements(url, `drop owned by ${role}`, `drop role ${role}`);
  }
});

test('tenants share a bucket of the operator only where no value of it is the choice of a request', () => {
  const id = fc.constantFrom('default', 'acme', 'bolt', 'acme:x');
  const value = fc.constantFrom('a', 'acme', 'x y', '#', '.', 'acme:a');
  const own = fc.constantFrom('agent', 'model', 'provider', 'key', 'tenant');
  const scope = fc.dictionary(fc.oneof(own, fc.constantFrom('client', 'user')), fc.constantFrom('*', 'a'), {
    minKeys: 1,
  });
  const dimensions = fc.record({ client: value, user: value, agent: value, model: value, provider: value, key: value });
  fc.assert(
    fc.property(scope, id, id, dimensions, dimensions, (given, one, two, mine, theirs) => {
      const limit = { owner: '*', name: 'l', scope: given } as unknown as Limit;
      const [a] = placesOf([limit], one, { ...mine, tenant: one });
      const [b] = placesOf([limit], two, { ...theirs, tenant: two });
      const chosen = ['client', 'user'].some((name) => given[name] === '*');
      if (a && b && chosen && one !== two) expect(a.place).not.toBe(b.place);
      if (a) {
        const each = Object.keys(given)
          .sort()
          .filter((name) => given[name] === '*');
        const plain = each.map((name) => ({ ...mine, tenant: one })[name as keyof typeof mine]).join('/');
        expect(valueOf(placeKey(a.place))).toBe(plain);
      }
    }),
    { numRuns: 2_000 },
  );
});

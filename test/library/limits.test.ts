import { randomBytes } from 'node:crypto';
import { createLanefold, type Lanefold, type LimitDefinition } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refused } from '../db/helpers.ts';
import { statements, urlAs } from '../support/citus.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const tokens: LimitDefinition = { kind: 'tokens', amount: 100, per: 'minute' };
const role = `api_${randomBytes(4).toString('hex')}`;

describe('limits', () => {
  let operator: TestLanefold;
  let api: Lanefold;
  beforeAll(async () => {
    operator = await startLanefold();
    await operator.database.pool.query(
      `create role ${role} login password 'a'; select lanefold.grant_role('${role}', 'api')`,
    );
    api = await createLanefold({ ...operator.options, databaseUrl: urlAs(operator.database.url, role, 'a') });
  });
  afterAll(async () => {
    await api.close();
    await statements(operator.database.url, `select lanefold.revoke_role('${role}')`, `drop role ${role}`);
    await operator.close();
  });

  /** As an operator, whom no policy binds, and as the role of an API. */
  const both = () => [operator, api];
  const listed = async ({ limits }: Pick<Lanefold, 'limits'>) =>
    (await limits.list()).map(({ tenant, name }) => `${tenant ?? '*'} ${name}`);
  /** What other processes and sessions do to limits. */
  const use = (place: string, amount: number, version: number) =>
    operator.database.pool.query('select lanefold.use_limits($1)', [
      JSON.stringify([{ version, thread_id: 't', run_id: `r${amount}`, take: [[place, amount]] }]),
    ]);

  test.each<[string, LimitDefinition]>([
    ['slots', { kind: 'concurrency', amount: 5, scope: { customer: '*' }, amounts: { acme: 20, 'a b': 0 } }],
    ['starts', { kind: 'runs', amount: 0, scope: {}, per: 90_000 }],
    ['calls', { kind: 'requests', amount: 1e15, scope: { model: 'openai:a/b' }, per: 'second', onExhausted: 'end' }],
    [
      'fair',
      {
        kind: 'tokens',
        amount: 7,
        scope: { agent: '*', model: '*' },
        amounts: { 'support/openrouter:meta/x': 9 },
        tokens: 'output',
        per: 'day',
        shareBy: 'customer',
        shares: { acme: 0.5, bolt: 3 },
        reserve: { acme: 2 },
      },
    ],
    [
      'budget',
      {
        kind: 'money',
        amount: 0.000_000_001,
        scope: { team: '*' },
        amounts: { a: 1e9, b: 1_234_567.890_123_4 },
        calendar: 'month',
        timeZone: 'Europe/Berlin',
      },
    ],
  ])('are listed as they were set: %s', async (name, definition) => {
    for (const { limits } of both()) {
      const set = await limits.set(name, definition, { by: 'cli:me' });
      const expected = { tokens: definition.kind === 'tokens' ? 'total' : undefined, ...definition };
      const { tenant, createdAt, updatedAt, updatedBy, name: _, ...shown } = set;
      expect(shown).toEqual(JSON.parse(JSON.stringify(expected)));
      expect([tenant, updatedBy, createdAt <= updatedAt]).toEqual([null, 'cli:me', true]);
      expect(await limits.list()).toContainEqual(set);
    }
  });

  /** What processes compare. Callers are not told: it is one for all limits. */
  const versionOf = async (name: string): Promise<number> => {
    const text = "select version::int from lanefold._limit where owner = '*' and name = $1";
    return (await operator.database.pool.query<{ version: number }>(text, [name])).rows[0]!.version;
  };

  test('have a version that rises with every change, and with nothing else', async () => {
    const { limits } = operator;
    const first = await limits.set('versioned', tokens, { by: 'one' });
    const before = await versionOf('versioned');
    const second = await limits.set('versioned', { ...tokens, amount: 200 }, { by: 'two' });
    const changed = await versionOf('versioned');
    expect(changed).toBeGreaterThan(before);
    expect(await limits.set('versioned', { ...tokens, amount: 200, scope: {} }, { by: 'three' })).toEqual(second);
    await limits.set('another', tokens);
    expect(await versionOf('another')).toBe(changed + 1);
    await limits.remove('versioned');
    expect(await listed(operator)).not.toContain('* versioned');
    const again = await limits.set('versioned', tokens);
    expect(await versionOf('versioned')).toBe(changed + 3);
    expect(again.createdAt).toEqual(first.createdAt);
  });

  test('set at the same moment each get a version of their own', async () => {
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => operator.limits.set(`together-${n % 4}`, { ...tokens, amount: n })),
    );
    const { rows } = await operator.database.pool.query(
      'select version from lanefold._limit group by version having count(*) > 1',
    );
    expect(rows).toEqual([]);
  });

  test('that do not exist, or not any more, are not removed', async () => {
    for (const { limits } of both()) {
      await refused(limits.remove('nowhere'), 'limit_not_found');
      await limits.set('once', tokens);
      await limits.remove('once');
      await refused(limits.remove('once'), 'limit_not_found');
    }
  });

  test('keep their kind', async () => {
    const { limits } = operator;
    await limits.set('kind', tokens);
    for (const remove of [false, true]) {
      if (remove) await limits.remove('kind');
      await expect(limits.set('kind', { kind: 'concurrency', amount: 1 })).rejects.toMatchObject({
        code: 'invalid_input',
        details: { field: 'kind' },
      });
    }
  });

  test('are audited, with what they were', async () => {
    await operator.limits.set('audited', tokens, { by: 'one' });
    await operator.limits.set('audited', { ...tokens, amount: 5, onExhausted: 'end' }, { by: 'two' });
    await operator.limits.remove('audited', { by: 'three' });
    await operator.limits.set('audited', tokens, { tenant: 'acme' });
    const stored = { kind: 'tokens', scope: {}, amount: 100, tokens: 'total', per_ms: 60_000, on_exhausted: 'wait' };
    const changed = { ...stored, amount: 5, on_exhausted: 'end' };
    const found = (await operator.audit.list({ limit: 1_000 })).filter(({ detail }) => detail['name'] === 'audited');
    expect(
      found.map(({ actor, action, tenantId, detail: { name: _, ...detail } }) => [actor, action, tenantId, detail]),
    ).toEqual([
      ['one', 'limits.set', null, { new: stored }],
      ['two', 'limits.set', null, { old: stored, new: changed }],
      ['three', 'limits.remove', null, { old: changed }],
      ['operator', 'limits.set', 'acme', { new: stored }],
    ]);
  });

  test('of a tenant are those of no other, and apply to its runs only', async () => {
    for (const lanefold of both()) {
      const [acme, bolt] = [lanefold.forTenant('acme'), lanefold.forTenant('bolt')];
      await lanefold.limits.set('mine', tokens);
      expect(await acme.limits.set('mine', { ...tokens, amount: 1 })).toMatchObject({ tenant: 'acme', amount: 1 });
      await lanefold.limits.set('mine', { ...tokens, amount: 2 }, { tenant: 'bolt' });
      expect(await bolt.limits.list()).toMatchObject([{ name: 'mine', tenant: 'bolt', amount: 2 }]);
      expect((await bolt.limits.usage()).map(({ tenant }) => tenant)).toEqual(['bolt']);
      expect(await listed(lanefold)).toEqual(expect.arrayContaining(['* mine', 'acme mine', 'bolt mine']));
      await refused(acme.limits.set('mine', tokens, { tenant: 'bolt' }), 'invalid_input');
      await refused(acme.limits.remove('mine', { tenant: 'bolt' }), 'invalid_input');
      await expect(acme.limits.set('mine', { ...tokens, scope: { tenant: 'bolt' } })).rejects.toMatchObject({
        code: 'invalid_input',
        details: { field: 'scope.tenant' },
      });
      await acme.limits.remove('mine');
      expect(await listed(acme)).not.toContain('acme mine');
      expect(await listed(lanefold)).toEqual(expect.arrayContaining(['* mine', 'bolt mine']));
      await bolt.limits.remove('mine');
    }
  });

  test('say what was used, in the order of their keys', async () => {
    const { limits } = operator;
    const scope = { customer: '*' };
    await limits.set('usage', { ...tokens, scope, amounts: { bolt: 1_000 } });
    await limits.set('spent', {
      kind: 'money',
      amount: 2,
      calendar: 'day',
      timeZone: 'Asia/Tokyo',
    });
    const version = await versionOf('spent');
    await use('* usage acme', 40, version);
    await use('* usage bolt', 90, version);
    await use('* usage core', 60, version);
    await use('* spent ', 1_500_000_001, version);
    const usage = await limits.usage({ name: 'usage' });
    const unused = {
      noticedAt: null,
      waitingBy: null,
      slices: expect.any(Array),
      waiting: 0,
      total: 0,
      resetsAt: null,
      drainedUntil: null,
      name: 'usage',
      tenant: null,
      kind: 'tokens',
    };
    expect(usage).toEqual([
      { ...unused, key: 'acme', amount: 100, used: 40, reserved: 40, cursor: '*/usage/true/acme' },
      { ...unused, key: 'bolt', amount: 1_000, used: 90, reserved: 90, cursor: '*/usage/true/bolt' },
      { ...unused, key: 'core', amount: 100, used: 60, reserved: 60, cursor: '*/usage/true/core' },
    ]);
    // time moves the slices
    expect(await limits.usage({ name: 'usage', limit: 1 })).toEqual([{ ...usage[0], slices: expect.any(Array) }]);
    const [spent] = await limits.usage({ name: 'spent' });
    expect(spent).toMatchObject({ key: '', amount: 2, used: 1.500_000_001, reserved: 1.500_000_001 });
    // midnight in Tokyo
    expect(spent!.resetsAt!.toISOString()).toMatch(/T15:00:00.000Z$/);
    await limits.set('usage', { ...tokens, amount: 50, scope, amounts: { bolt: 1_000 } });
    expect((await limits.usage({ name: 'usage' }))[0]).toMatchObject({ key: 'acme', amount: 50, used: 40 });
    // buckets of the earlier scope do not count
    await limits.set('usage', tokens);
    expect(await limits.usage({ name: 'usage' })).toMatchObject([{ key: '', used: 0, total: 0 }]);
  });

  test.each([[{ limit: 0 }], [{ limit: 1_001 }], [{ name: 'a b' }]])('usage of %j is refused', async (query) => {
    await expect(operator.limits.usage(query)).rejects.toMatchObject({ code: /^invalid_(input|id)$/ });
  });

  test('that the database cannot apply are refused by it as well', async () => {
    const { pool } = operator.database;
    const given = { kind: 'runs', scope: {}, amount: 1, per_ms: 60_000, by: 'sql' };
    const set = (p: object, owner = '*', name = 'sql') =>
      pool.query('select lanefold.set_limit($1, $2, $3)', [owner, name, { ...given, ...p }]);
    for (const [field, p] of Object.entries({
      kind: { kind: 'cats' },
      scope: { scope: [] },
      amount: { amount: -1 },
      amounts: { amounts: { a: 1.5 } },
      per_ms: { per_ms: 10 },
      calendar: { per_ms: null, calendar: 'year' },
      interval: { per_ms: null },
      on_exhausted: { on_exhausted: 'cry' },
      by: { by: null },
    }))
      await expect(set(p), field).rejects.toMatchObject({ code: 'LF014', message: `The limit has no valid ${field}.` });
    const zoned = { per_ms: null, calendar: 'day', time_zone: 'Mars/Base' };
    await expect(set(zoned)).rejects.toMatchObject({ code: 'LF014', message: expect.stringContaining('Mars/Base') });
    await expect(set({}, '*', 'a b')).rejects.toMatchObject({ code: 'LF016' });
    await expect(set({}, 'a b')).rejects.toMatchObject({ code: 'LF016' });
    expect(await listed(operator)).not.toContain('* sql');
  });
});

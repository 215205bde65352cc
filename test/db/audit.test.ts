import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

let lanefold: TestLanefold;
beforeAll(async () => {
  lanefold = await startLanefold();
  await lanefold.threads.create({ id: 'moved' });
});
afterAll(() => lanefold?.close());

const sql = async <T = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<T[]> =>
  (await lanefold.database.pool.query(text, values)).rows as T[];
/** The rows of the audit that an act left. */
async function auditOf(act: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const [last] = await sql<{ no: string | null }>('select max(no) as no from lanefold.audit');
  await act();
  return sql(
    'select actor, action, tenant_id, thread_id, detail from lanefold.audit where no > coalesce($1::bigint, 0) order by no',
    [last!.no],
  );
}
const refusedBy = (act: () => Promise<unknown>) => auditOf(() => expect(act()).rejects.toThrow());

const limit = { kind: 'tokens', scope: {}, amount: '100', tokens: 'total', per_ms: 60_000, by: 'ann' };
const key = { id: 'key_a', name: 'a', allowed: { scopes: ['read', 'run'] }, tenant_id: 'acme', created_by: 'ann' };
const setLimit = (owner: string, name: string, p: object) =>
  sql('select lanefold.set_limit($1, $2, $3)', [owner, name, p]);

describe('an act by SQL leaves a row in the audit', () => {
  const setOfLimit = { kind: 'tokens', scope: {}, amount: 100, tokens: 'total', per_ms: 60_000, on_exhausted: 'wait' };
  const shares = { a: 1, b: 2 };
  test.each<[string, string, unknown[], object]>([
    [
      'set_limit',
      'select lanefold.set_limit($1, $2, $3)',
      ['acme', 'own', limit],
      { actor: 'ann', action: 'limits.set', tenant_id: 'acme', detail: { name: 'own', new: setOfLimit } },
    ],
    [
      'set_limit again',
      'select lanefold.set_limit($1, $2, $3)',
      ['acme', 'own', { ...limit, amount: '7', by: 'bob' }],
      {
        actor: 'bob',
        action: 'limits.set',
        tenant_id: 'acme',
        detail: { name: 'own', old: setOfLimit, new: { ...setOfLimit, amount: 7 } },
      },
    ],
    [
      'remove_limit',
      'select lanefold.remove_limit($1, $2, $3)',
      ['acme', 'own', 'ann'],
      {
        actor: 'ann',
        action: 'limits.remove',
        tenant_id: 'acme',
        detail: { name: 'own', old: { ...setOfLimit, amount: 7 } },
      },
    ],
    [
      'set_limit for all',
      'select lanefold.set_limit($1, $2, $3)',
      ['*', 'all', limit],
      { action: 'limits.set', tenant_id: null, detail: { name: 'all', new: setOfLimit } },
    ],
    [
      'set_rollout',
      'select lanefold.set_rollout($1, $2)',
      ['support', { shares, by: 'ann' }],
      { actor: 'ann', action: 'rollouts.set', detail: { agent: 'support', new: { shares } } },
    ],
    [
      'set_thread_version',
      'select lanefold.set_thread_version($1, $2, $3, $4)',
      ['moved', 'support', 'b', 'ann'],
      {
        actor: 'ann',
        action: 'rollouts.move_thread',
        thread_id: 'moved',
        detail: { agent: 'support', from: null, to: 'b' },
      },
    ],
    [
      'remove_rollout',
      'select lanefold.remove_rollout($1, $2)',
      ['support', 'ann'],
      { actor: 'ann', action: 'rollouts.remove', detail: { agent: 'support', old: { shares } } },
    ],
    [
      'create_key',
      'select lanefold.create_key($1, $2)',
      [Buffer.from('one'), key],
      {
        actor: 'ann',
        action: 'keys.create',
        tenant_id: 'acme',
        detail: { key: 'key_a', name: 'a', scopes: 'read run' },
      },
    ],
    [
      'rotate_key',
      'select lanefold.rotate_key($1, $2, $3, $4)',
      ['key_a', Buffer.from('two'), 'bob', 0],
      { actor: 'bob', action: 'keys.rotate', tenant_id: 'acme', detail: { key: 'key_a' } },
    ],
    [
      'revoke_key',
      'select lanefold.revoke_key($1, $2)',
      ['key_a', 'ann'],
      { actor: 'ann', action: 'keys.revoke', tenant_id: 'acme', detail: { key: 'key_a' } },
    ],
    [
      'configure_tenant',
      'select lanefold.configure_tenant($1, $2)',
      ['acme', { limits: { runs: 3 }, by: 'ann' }],
      { actor: 'ann', action: 'tenants.configure', tenant_id: 'acme', detail: { limits: { runs: 3 } } },
    ],
  ])('%s', async (_, text, values, row) => {
    const rows = await auditOf(() => sql(text, values));
    expect(rows).toMatchObject([row]);
    expect(rows[0]!['detail']).toEqual((row as { detail: object }).detail);
  });

  test('under the name of its role, if it gives none', async () => {
    const [{ user }] = (await sql('select session_user as user')) as [{ user: string }];
    expect(await auditOf(() => sql('select lanefold.configure_tenant($1, $2)', ['bolt', {}]))).toMatchObject([
      { actor: `sql:${user}` },
    ]);
  });
});

describe('an act that is refused, or changes nothing, leaves none', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['a limit of another kind', () => setLimit('*', 'all', { ...limit, kind: 'money' })],
    ['a limit that is none', () => setLimit('*', 'new', { ...limit, amount: '-1' })],
    ['a limit of no tenant', () => setLimit('no tenant', 'new', limit)],
    ['a second key with the same secret', () => sql('select lanefold.create_key($1, $2)', [Buffer.from('one'), key])],
    ['a tenant that is none', () => sql('select lanefold.configure_tenant($1, $2)', ['no tenant', {}])],
    [
      'a thread that is none',
      () => sql('select lanefold.set_thread_version($1, $2, $3, $4)', ['nowhere', 'support', 'b', 'ann']),
    ],
    ['by the library: a limit of another kind', () => lanefold.limits.set('all', { kind: 'concurrency', amount: 1 })],
    ['by the library: removing no limit', () => lanefold.limits.remove('none')],
    ['by the library: removing no rollout', () => lanefold.agents.removeRollout('none')],
    ['by the library: rotating no key', () => lanefold.keys.rotate('key_none')],
    ['by the library: revoking no key', () => lanefold.keys.revoke('key_none')],
  ])('%s', async (_, act) => expect(await refusedBy(act)).toEqual([]));

  test.each<[string, () => Promise<unknown>]>([
    ['the same limit', () => setLimit('*', 'all', limit)],
    ['removing no limit', () => sql("select lanefold.remove_limit('*', 'none', 'ann')")],
    ['removing no rollout', () => sql("select lanefold.remove_rollout('none', 'ann')")],
    ['rotating a revoked key', () => sql("select lanefold.rotate_key('key_a', 'x', 'ann', 0)")],
    ['revoking a revoked key', () => sql("select lanefold.revoke_key('key_a', 'ann')")],
  ])('%s', async (_, act) => expect(await auditOf(act)).toEqual([]));
});

test('an act on webhooks and schedules by SQL leaves one row if it changes something, and none if it is refused', async () => {
  const webhook = { url: 'https://1.1.1.1/x', types: [], agents: [], ordered: false, include_result: false, by: 'ann' };
  const set = (name: string, p: object) => [
    'select lanefold.set_webhook($1, $2, $3, $4)',
    ['acme', name, `id-${name}`, p],
  ];
  const on = (call: string) => [`select lanefold.${call}`, []];
  const schedule = {
    agent: 'a',
    overlap: 'skip',
    timing: { cron: '@daily' },
    definition: { input: 'x' },
    next_at: '2099-01-01',
    source: 'user',
    by: 'ann',
  };
  const setSchedule = (p: object) => ['select lanefold.set_schedule($1, $2, $3)', ['acme', 's', p]];
  for (const [[text, values], actions] of [
    [set('w', webhook), ['webhooks.set']],
    [set('w', webhook), []],
    [set('w', { ...webhook, url: 'https://1.1.1.1/y' }), ['webhooks.set']],
    [set('w', { ...webhook, url: null }), []],
    [set('no name', webhook), []],
    [set('nameless', { ...webhook, by: null }), []],
    [on("pause_webhook('acme', 'w', true, 'ann')"), ['webhooks.pause']],
    [on("pause_webhook('acme', 'w', true, 'ann')"), []],
    [on("pause_webhook('acme', 'w', false, 'ann')"), ['webhooks.resume']],
    [on("pause_webhook('bolt', 'w', false, 'ann')"), []],
    [on("rotate_webhook('acme', 'w', 0, 'ann')"), ['webhooks.rotate']],
    [on("rotate_webhook('acme', 'none', 0, 'ann')"), []],
    [on("test_webhook('/webhooks/id-w', 'acme', 'id-w', 'ann')"), ['webhooks.test']],
    [on("test_webhook('/webhooks/id-w', 'bolt', 'id-w', 'ann')"), []],
    [on("count_attempt('acme', 'id-w', false, false, 20, 3)"), []],
    [on("count_attempt('acme', 'id-w', false, true, 20, 3)"), ['webhooks.pause']],
    [on("count_attempt('acme', 'id-w', false, true, 20, 3)"), []],
    [on("remove_webhook('acme', 'w', null)"), []],
    [on("remove_webhook('acme', 'w', 'ann')"), ['webhooks.remove']],
    [on("remove_webhook('acme', 'w', 'ann')"), []],
    [setSchedule(schedule), ['schedules.set']],
    [setSchedule(schedule), []],
    [setSchedule({ ...schedule, agent: null }), []],
    [on("pause_schedule('acme', 's', 9, true, null, 'ann')"), []],
    [on("pause_schedule('acme', 's', 1, true, null, 'ann')"), ['schedules.pause']],
    [on("pause_schedule('acme', 's', 2, true, null, 'ann')"), []],
    [on("pause_schedule('acme', 's', 2, false, '2099-01-01', 'ann')"), ['schedules.resume']],
    [on("remove_schedule('acme', 's', 'ann', 'code')"), []],
    [on("remove_schedule('acme', 's', 'ann')"), ['schedules.remove']],
    [on("remove_schedule('acme', 's', 'ann')"), []],
  ] as [[string, unknown[]], string[]][]) {
    const rows = await auditOf(() =>
      sql(text, values).catch((error: { code?: string }) => expect(error.code).toBeDefined()),
    );
    expect([text, values, rows.map(({ action }) => action)]).toEqual([text, values, actions]);
    for (const { tenant_id: tenant } of rows) expect(tenant).toBe('acme');
  }
});

test('every function that changes what the operator sets writes to the audit itself', async () => {
  const rows = await sql<{ name: string }>(
    `select p.proname as name from pg_proc p
     -- an erasure is audited by its caller: a row of each thing would copy what is to be erased
     where p.pronamespace = 'lanefold'::regnamespace and p.proname !~ '^(_|erase_)' and not lanefold._is_for_workers(p.proname)
       and p.prosrc ~ '(insert into|update|delete from) lanefold[.]_(limit|rollout|api_key|tenant|schedule|webhook|monitor|alarm)[^a-z_]'
       and p.prosrc !~ 'write_audit|lanefold[.]_changed_(limit|key|schedule|webhook|monitor|alarm)|lanefold[.](set|remove)_'
     order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual([]);
});

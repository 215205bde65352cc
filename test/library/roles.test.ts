// @module-tag slow
import { randomBytes } from 'node:crypto';
import { createLanefold, defineAgent, migrate, type LanefoldOptions } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findUnattendedIn } from '../../src/runs/fleet/unattended.ts';
import { openDatabase } from '../../src/database/postgres/pool.ts';
import { rolesSql } from '../../src/database/store/role/session-rights.ts';
import { refused } from '../db/helpers.ts';
import { statements, urlAs } from '../support/citus.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { onCitus } from '../support/services.ts';
import { queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { answerWith, startReceiver } from '../webhooks/receiver.ts';

const agents = [defineAgent({ name: 'agent', model: 'scripted:["done"]' })];
const prefix = `shop${randomBytes(4).toString('hex')}`;
const duties = ['migrator', 'worker', 'api', 'reader'];
let owner: TestLanefold;

beforeAll(async () => {
  owner = await startLanefold({ agents });
  const sql = rolesSql(prefix, 'acme').split(/\n(?=create|select|do)/);
  await statements(owner.database.url, ...sql);
  for (const duty of duties) await owner.database.pool.query(`alter role ${prefix}_${duty} password 'p'`);
});
afterAll(async () => {
  const { pool } = owner.database;
  for (const duty of duties.slice(1)) await pool.query(`select lanefold.revoke_role('${prefix}_${duty}')`);
  for (const duty of duties)
    await statements(owner.database.url, `drop owned by ${prefix}_${duty}`, `drop role ${prefix}_${duty}`);
  await owner.close();
});

const urlOf = (duty: string): string => urlAs(owner.database.url, `${prefix}_${duty}`, 'p');
const open = (duty: string, more: LanefoldOptions = {}) =>
  createLanefold({ ...owner.options, databaseUrl: urlOf(duty), directUrl: urlOf(duty), roleCheck: 'refuse', ...more });

test('the roles that `lanefold roles` creates do their duty, the queue in the same database, and pass the check', async () => {
  const [worker, api] = await Promise.all([open('worker'), open('api')]);
  try {
    const errors: unknown[] = [];
    const running = await worker.startWorker({ sweepMs: 20, onError: (error) => errors.push(error) });
    const { runs } = api.forTenant('acme');
    const run = await runs.enqueue({ agent: 'agent', input: 'hi' });
    expect(await runs.wait(run)).toMatchObject({ status: 'completed', result: 'done' });
    // only a sweep ends this one
    const late = await runs.enqueue({ agent: 'agent', input: 'hi', delayMs: 60_000, ttlMs: 60_000 });
    await owner.database.pool.query('update lanefold._run set expires_at = created_at where id = $1', [late.id]);
    expect((await runs.wait(late)).error?.type).toBe('expired');
    expect(errors).toEqual([]);
    await running.stop();
    await refused(api.startWorker(), 'role_unfit');
    expect(await api.health()).toEqual({});
  } finally {
    await Promise.all([worker.close(), api.close()]);
  }
});

test.skipIf(queueBackend() === 'redis')('the role of a worker gives lost jobs back, also several at once', async () => {
  const { pool } = owner.database;
  const runs = await Promise.all(['one', 'two', 'three'].map((input) => owner.runs.enqueue({ agent: 'agent', input })));
  await pool.query('delete from bullmq.job');
  await pool.query("update lanefold._run set enqueued_at = now() - interval '1 minute' where finished_at is null");
  const worker = await open('worker');
  try {
    const errors: unknown[] = [];
    await worker.startWorker({ sweepMs: 20, onError: (error) => errors.push(error) });
    for (const run of runs) expect(await worker.runs.wait(run)).toMatchObject({ status: 'completed' });
    expect(errors).toEqual([]);
  } finally {
    await worker.close();
  }
});

test('the role of a worker learns no secret of a webhook that it does not sign with; that of an API renews them', async () => {
  const url = 'https://1.1.1.1/hook?token=t';
  const { secret } = await owner.webhooks.set('hook', { url }, { tenant: 'acme' });
  const worker = await open('worker');
  const api = await open('api');
  try {
    const told = { code: 'role_unfit', hint: expect.stringMatching(/role of an API or the owner/) as unknown };
    await expect(worker.webhooks.rotate('hook', { tenant: 'acme' })).rejects.toMatchObject(told);
    const { url: server } = await worker.startServer({ port: 0 });
    const answer = await fetch(`${server}/v1/webhooks/hook/rotate?tenant=acme`, { method: 'POST' });
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toMatchObject([501, null, told]);
    const rotated = await api.forTenant('acme').webhooks.rotate('hook');
    expect(rotated.secret).not.toBe(secret);
    await api.forTenant('acme').webhooks.remove('hook');
  } finally {
    await Promise.all([worker.close(), api.close()]);
  }
});

test('the role of an API makes keys and settings for any tenant, and reads the audit; that of a reader does not', async () => {
  const api = await open('api');
  try {
    const { id, key } = await api.keys.create({ name: 'any', scopes: ['read'], tenant: 'bolt' });
    await api.tenants.configure('bolt', { limits: { runs: 1 } });
    expect(await api.keys.find(key)).toMatchObject({ id, tenant: 'bolt', state: 'valid' });
    expect(await api.audit.list({ tenantId: 'bolt' })).toMatchObject([
      { action: 'keys.create' },
      { action: 'tenants.configure' },
    ]);
  } finally {
    await api.close();
  }
  const reader = new pg.Client({ connectionString: urlOf('reader') });
  await reader.connect();
  try {
    for (const sql of [
      'select from lanefold.api_key',
      'select from lanefold.audit',
      "select lanefold.revoke_key('key_x', 'ann')",
    ])
      await expect(reader.query(sql)).rejects.toMatchObject({ code: '42501' });
  } finally {
    await reader.end();
  }
});

test('a schedule that the role of an API sets for a tenant starts runs in a worker with its role', async () => {
  const [worker, api] = await Promise.all([open('worker'), open('api')]);
  try {
    const errors: unknown[] = [];
    await worker.startWorker({ onError: (error) => errors.push(error) });
    const { runs, schedules } = api.forTenant('acme');
    await schedules.set('often', { agent: 'agent', input: 'at {{slot}}', cron: '* * * * * *' });
    const slot = await until('a slot has fired', async () =>
      (await schedules.slots('often')).data.find(({ status }) => status === 'fired'),
    );
    expect(await runs.wait({ threadId: slot.threadId!, id: slot.runId! })).toMatchObject({ status: 'completed' });
    await schedules.pause('often');
    await schedules.remove('often');
    expect((await schedules.list()).data).toEqual([]);
    expect(errors).toEqual([]);
  } finally {
    await Promise.all([worker.close(), api.close()]);
  }
});

test('a webhook that the role of an API sets for a tenant is sent by a worker with its role', async () => {
  const receiver = await startReceiver();
  const more = { privateWebhooks: true };
  const [worker, api] = await Promise.all([open('worker', more), open('api', more)]);
  try {
    const errors: unknown[] = [];
    await worker.startWorker({ onError: (error) => errors.push(error) });
    const { runs, webhooks } = api.forTenant('acme');
    await webhooks.set('ends', { url: receiver.url });
    receiver.respond = answerWith(500);
    const run = await runs.enqueue({ agent: 'agent', input: 'x' });
    const [delivery] = await until('it has failed', async () => {
      const all = await webhooks.deliveries('ends');
      return all[0]?.error && all;
    });
    receiver.respond = answerWith(200);
    expect(await webhooks.redeliver('ends', { id: delivery!.id })).toEqual({ redelivered: 1 });
    await until('it is delivered', async () => (await webhooks.deliveries('ends'))[0]!.status === 'delivered');
    expect(receiver.received.map(({ event }) => event.data['run_id'])).toEqual([run.id, run.id]);
    await webhooks.rotate('ends');
    for (const duty of ['api', 'worker']) {
      await statements(urlOf(duty), 'select url from lanefold._webhook');
      await expect(statements(urlOf(duty), 'select secrets from lanefold._webhook')).rejects.toThrow(
        'permission denied',
      );
    }
    await webhooks.pause('ends');
    await webhooks.remove('ends');
    expect(await webhooks.list()).toEqual([]);
    expect(errors).toEqual([]);
  } finally {
    await Promise.all([worker.close(), api.close()]);
    await receiver.close();
  }
});

test('a tenant learns whether a worker can take its own run; who works is for the API that acts for none', async () => {
  const [worker, api] = await Promise.all([open('worker'), open('api')]);
  try {
    const { runs } = api.forTenant('acme');
    const run = await runs.enqueue({ agent: 'agent', input: 'hi' });
    expect(await runs.get(run)).toMatchObject({ unattended: { reason: 'no_worker' } });
    const { id } = await worker.startWorker();
    await runs.wait(run);
    const later = await runs.enqueue({ agent: 'agent', input: 'hi', delayMs: 60_000 });
    expect(await runs.get(later)).toMatchObject({ status: 'queued', unattended: null });
    expect(await api.workers.list()).toContainEqual(expect.objectContaining({ id, state: 'alive' }));
  } finally {
    await Promise.all([worker.close(), api.close()]);
  }
});

// with the policy of a reader, Citus refuses the join of this statement
test.skipIf(onCitus)('a reader of one tenant sees no workers, and does not say that there is none', async () => {
  const [worker, api] = await Promise.all([open('worker'), open('api')]);
  // somebody gave its role more than its duty needs, which is no right to the queue
  await statements(
    owner.database.url,
    `grant select on lanefold._run to ${prefix}_reader`,
    `grant execute on function lanefold._now, lanefold._lease_over to ${prefix}_reader`,
  );
  const reader = openDatabase({ url: urlOf('reader'), max: 1 });
  try {
    await worker.startWorker();
    const run = await api.forTenant('acme').runs.enqueue({ agent: 'agent', input: 'hi', delayMs: 60_000 });
    await owner.database.pool.query('update lanefold._run set start_at = null where id = $1', [run.id]);
    const asked = [{ threadId: run.threadId, runId: run.id }];
    expect(await findUnattendedIn(reader, reader)(asked)).toEqual([]);
    await worker.close();
    const { runs } = api.forTenant('acme');
    expect(await runs.get(run)).toMatchObject({ unattended: { reason: 'no_worker' } });
    expect(await findUnattendedIn(reader, reader)(asked)).toEqual([]);
  } finally {
    await Promise.all([worker.close(), api.close(), reader.close()]);
  }
});

test.skipIf(citusLacks.migrators)('a migrator migrates, and what it makes belongs to the owner', async () => {
  await owner.database.pool.query("comment on function lanefold._lock_thread(text) is 'of another version'");
  expect(await migrate(urlOf('migrator'))).toMatchObject({ status: 'migrated' });
  const { rows } = await owner.database.pool.query(
    `select distinct proowner::regrole::text as owner from pg_proc where pronamespace = 'lanefold'::regnamespace`,
  );
  expect(rows).toEqual([{ owner: 'lanefold_owner' }]);
});

test('a role that may do too much is refused, by what it may', async () => {
  const { options, database } = owner;
  const refuse = (databaseUrl: string) => createLanefold({ ...options, databaseUrl, roleCheck: 'refuse' });
  await expect(refuse(database.url)).rejects.toMatchObject({
    code: 'role_unfit',
    message: expect.stringContaining('superuser'),
  });
  await expect(refuse(urlOf('migrator'))).rejects.toMatchObject({
    message: expect.stringContaining('act as the owner'),
  });
  await database.pool.query(`grant delete on lanefold._entry to ${prefix}_worker`);
  await expect(refuse(urlOf('worker'))).rejects.toMatchObject({
    message: expect.stringContaining('write to the tables'),
  });
  await database.pool.query(`select lanefold.grant_role('${prefix}_worker', 'worker')`);
  await (await refuse(urlOf('worker'))).close();
});

test('with `warn` it starts and says so', async () => {
  const warning = new Promise<Error & { code?: string }>((resolve) => process.once('warning', resolve));
  const lanefold = await createLanefold({ ...owner.options, roleCheck: 'warn' });
  expect(await warning).toMatchObject({ code: 'LANEFOLD_ROLE', message: expect.stringContaining('superuser') });
  await lanefold.close();
});

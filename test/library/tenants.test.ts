// @module-tag slow
import { randomBytes } from 'node:crypto';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createLanefold, defineAgent, type Lanefold, type TenantLibrary } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { statements, urlAs } from '../support/citus.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { refused } from '../db/helpers.ts';
import { until } from '../support/until.ts';

const agent = defineAgent({ name: 'agent', model: 'scripted:["done"]' });
const secrets = ['a secret of at least thirty-two bytes'];
const role = `api_${randomBytes(4).toString('hex')}`;
let operator: TestLanefold;
let api: Lanefold;

beforeAll(async () => {
  operator = await startLanefold({ agents: [agent], tokenSecrets: secrets });
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

/** As an operator, whom no policy binds, and as the role of an API, which sees nothing unless it names a tenant. */
const both = () => [operator, api];

let made = 0;
const newId = () => `x${++made}`;

/** Every method with a thread, or a run of one. */
const calls = (library: TenantLibrary, threadId: string, runId: string): Record<string, () => unknown> => {
  const run = { threadId, id: runId };
  const first = async (items: AsyncIterable<unknown>) => {
    for await (const item of items) return item;
    return undefined;
  };
  return {
    'threads.get': () => library.threads.get(threadId),
    'threads.peek': () => library.threads.peek(threadId),
    'threads.append': () => library.threads.append(threadId, [{ message: { role: 'user', content: 'x' } }]),
    'threads.entries': () => library.threads.entries(threadId),
    'threads.entryPage': () => library.threads.entryPage(threadId),
    'threads.readContent': () => library.threads.readContent(threadId, 'c_1'),
    'threads.agUiSnapshot': () => library.threads.agUiSnapshot(threadId),
    'threads.uiMessages': () => library.threads.uiMessages(threadId),
    'threads.marks': () => library.threads.marks(threadId, [runId]),
    'threads.config': () => library.threads.config(threadId),
    'threads.configure': () => library.threads.configure(threadId, { systemPrompt: 'x' }),
    'threads.events': () => library.threads.events(threadId),
    'threads.stream': () => first(library.threads.stream(threadId)),
    'threads.branch': () => library.threads.branch(threadId, { afterSeq: -1 }),
    'threads.branches': () => library.threads.branches(threadId),
    'threads.tree': () => library.threads.tree(threadId),
    'threads.questionOf': () => library.threads.questionOf(threadId, runId),
    'threads.waitingBranch': () => library.threads.waitingBranch(threadId),
    'threads.placeOfRun': () => library.threads.placeOfRun(threadId, runId),
    'threads.fork': () => library.threads.fork(threadId),
    'threads.export': () => first(library.threads.export(threadId)),
    'threads.erase': () => library.threads.erase(threadId),
    'threads.runOf': () => library.threads.runOf(threadId, runId),
    'contexts.project': () => library.contexts.project(threadId),
    'contexts.replace': () => library.contexts.replace(threadId, { entries: [] }),
    'contexts.reset': () => library.contexts.reset(threadId),
    'contexts.show': () => library.contexts.show(threadId, 'default'),
    'contexts.switch': () => library.contexts.switch(threadId, 'other'),
    'contexts.call': () => library.contexts.call(threadId, `${runId}:1`),
    'contexts.replayCall': () => library.contexts.replayCall(threadId, `${runId}:1`),
    'contexts.compact': () => library.contexts.compact(threadId),
    'contexts.lanes': () => library.contexts.lanes(threadId),
    'contexts.diff': () => library.contexts.diff({ threadId }, { threadId }),
    'runs.enqueue': () => library.runs.enqueue({ agent: 'agent', input: 'x', threadId }),
    'runs.get': () => library.runs.get(run),
    'runs.wait': () => library.runs.wait(run, { timeoutMs: 5_000 }),
    'runs.list': () => library.runs.list({ threadId }),
    'runs.counts': () => library.runs.counts({ threadId }),
    'runs.events': () => library.runs.events(run),
    'runs.ranOnly': () => library.runs.ranOnly(threadId, ['agent']),
    'runs.retry': () => library.runs.retry(run),
    'runs.rerun': () => library.runs.rerun(run, { model: 'scripted:echo' }),
    'runs.tree': () => library.runs.tree(run),
    'runs.nodes': () => library.runs.nodes(run),
    'runs.inputs': () => library.runs.inputs(run),
    'runs.stream': () => first(library.runs.stream(run)),
    'runs.streamTree': () => first(library.runs.streamTree(run)),
    'runs.steer': () => library.runs.steer(threadId, 'x'),
    'runs.inject': () => library.runs.inject(threadId, 'x'),
    'runs.approve': () => library.runs.approve(run, '1.0'),
    'runs.deny': () => library.runs.deny(run, '1.0'),
    'runs.cancel': () => library.runs.cancel(run),
    'runs.checkpoint': () => library.runs.checkpoint(run),
  };
};

/** What a caller gets, without the ids it gave. */
const outcome = async (call: () => unknown, ids: string[]): Promise<string> => {
  const text = await Promise.resolve()
    .then(call)
    .then(
      (result) => JSON.stringify(result) ?? 'nothing',
      (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
    );
  return ids.reduce((said, id) => said.replaceAll(id, '…'), text);
};

test('every method is in the list', () => {
  const listed = Object.keys(calls(operator, 't', 'r'));
  const methods = (['threads', 'runs', 'contexts'] as const).flatMap((noun) =>
    Object.keys(operator[noun]).map((method) => `${noun}.${method}`),
  );
  // a token names a run, and these name no thread: see below
  const others = [
    'threads.create',
    'threads.import',
    'threads.list',
    'threads.eraseTenant',
    'runs.enqueueMany',
    'runs.resume',
    'runs.collect',
    'runs.unfinished',
    'runs.cancelMany',
    'runs.retryMany',
    'runs.releaseMany',
  ];
  expect([...listed, ...others].sort()).toEqual(methods.sort());
});

test('to every method a thread of another tenant is one that does not exist, and nothing of it changes', async () => {
  for (const lanefold of both()) {
    const [acme, bolt] = [lanefold.forTenant('acme'), lanefold.forTenant('bolt')];
    const run = await bolt.runs.enqueue({ agent: 'agent', input: 'secret of bolt' });
    const read = async () => ({
      thread: await bolt.threads.get(run.threadId),
      run: await bolt.runs.get(run),
      entries: await bolt.threads.entries(run.threadId),
    });
    const before = await read();
    const [none, noRun] = ['no-thread-at-all', 'no-run-at-all'];
    for (const [name, call] of Object.entries(calls(acme, run.threadId, run.id))) {
      const nowhere = await outcome(calls(acme, none, noRun)[name]!, [none, noRun]);
      expect(await outcome(call, [run.threadId, run.id]), name).toBe(nowhere);
    }
    expect(await read()).toEqual(before);
    const { token } = await bolt.runs.checkpoint(run);
    for (const method of ['resume', 'collect'] as const) await refused(acme.runs[method](token), 'thread_not_found');
    const [one] = await acme.runs.enqueueMany([{ agent: 'agent', input: 'x', threadId: run.threadId }]);
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'thread_not_found' } });
    expect(await read()).toEqual(before);
    await operator.runs.cancel(run);
  }
});

test('lists over threads, and what is done to all of a tenant, are of the tenant alone', async () => {
  for (const lanefold of both()) {
    const [acme, bolt] = [lanefold.forTenant('acme'), lanefold.forTenant('bolt')];
    const run = await bolt.runs.enqueue({ agent: 'agent', input: 'a secret of bolt' });
    const own = await acme.runs.enqueue({ agent: 'agent', input: 'a secret of acme' });
    const threads = async (filter = {}) => (await acme.threads.list(filter)).data.map(({ id }) => id);
    expect(await threads()).toContain(own.threadId);
    for (const filter of [{}, { tenantId: 'bolt' }, { agent: 'agent' }])
      expect(await threads(filter)).not.toContain(run.threadId);
    const runs = async (filter = {}) => (await acme.runs.list(filter)).data.map(({ id }) => id);
    expect(await runs()).toContain(own.id);
    for (const filter of [{}, { agent: 'agent' }]) expect(await runs(filter)).not.toContain(run.id);
    expect((await acme.approvals.list()).data).toEqual([]);
    expect(await bolt.runs.unfinished({ tenant: 'bolt' })).toBeGreaterThan(0);
    expect(await acme.runs.unfinished({ tenant: 'bolt' })).toBe(0);
    expect(await acme.threads.eraseTenant('bolt')).toMatchObject({ busy: [], removed: { threads: 0 } });
    expect(await bolt.threads.get(run.threadId)).toMatchObject({ id: run.threadId });
    await operator.runs.cancel(run);
    await operator.runs.cancel(own);
  }
});

test('what a tenant makes is its own, whoever runs it', async () => {
  const worker = await operator.startWorker();
  for (const lanefold of both()) {
    const acme = lanefold.forTenant('acme');
    const run = await acme.runs.enqueue({ agent: 'agent', input: 'hi' });
    expect(await acme.runs.wait(run)).toMatchObject({ status: 'completed', result: 'done' });
    const items = [];
    for await (const item of acme.runs.stream(run)) items.push(item);
    expect(items.length).toBeGreaterThan(2);
    expect(await acme.threads.get(run.threadId)).toMatchObject({ tenantId: 'acme' });
    const { id } = await acme.threads.create({ systemPrompt: 'p' });
    await acme.threads.append(id, [{ message: { role: 'user', content: 'x' } }], { opId: 'k' });
    await acme.contexts.replace(id, { entries: [{ role: 'user', content: 'y' }] });
    expect(await operator.threads.get(id)).toMatchObject({ tenantId: 'acme' });
  }
  await worker.stop();
});

test('a schedule is of one tenant, and another neither sees nor changes it', async () => {
  for (const lanefold of both()) {
    const [acme, bolt] = [lanefold.forTenant('acme').schedules, lanefold.forTenant('bolt').schedules];
    const daily = { agent: 'agent', input: 'x', cron: '@daily' };
    expect(await bolt.set('daily', daily)).toMatchObject({ tenant: 'bolt' });
    expect((await acme.list()).data).toEqual([]);
    for (const act of ['get', 'slots', 'pause', 'resume', 'remove'] as const) {
      await refused(acme[act]('daily'), 'schedule_not_found');
      await refused(acme[act]('daily', { tenant: 'bolt' }), 'invalid_input');
    }
    await refused(acme.set('daily', daily, { tenant: 'bolt' }), 'invalid_input');
    expect(await bolt.get('daily')).toMatchObject({ version: 1, pausedAt: null });
    await bolt.remove('daily');
  }
});

test('a webhook is of one tenant, and another neither sees nor changes it', async () => {
  for (const lanefold of both()) {
    const [acme, bolt] = [lanefold.forTenant('acme').webhooks, lanefold.forTenant('bolt').webhooks];
    const endpoint = { url: 'https://1.1.1.1/' };
    expect(await bolt.set('ends', endpoint)).toMatchObject({ tenant: 'bolt' });
    expect(await acme.list()).toEqual([]);
    for (const act of ['get', 'deliveries', 'test', 'rotate', 'pause', 'resume', 'remove'] as const) {
      await refused(acme[act]('ends'), 'webhook_not_found');
      await refused(acme[act]('ends', { tenant: 'bolt' }), 'invalid_input');
    }
    await refused(acme.redeliver('ends', { id: 'x' }), 'webhook_not_found');
    await refused(acme.set('ends', endpoint, { tenant: 'bolt' }), 'invalid_input');
    expect(await bolt.get('ends')).toMatchObject({ version: 1, pausedAt: null });
    await bolt.remove('ends');
  }
});

test('a monitor is of one tenant, and another neither sees nor changes it', async () => {
  for (const lanefold of both()) {
    const [acme, bolt] = [lanefold.forTenant('acme').monitors, lanefold.forTenant('bolt').monitors];
    expect(await bolt.set('short', { scorers: ['short'] })).toMatchObject({ tenant: 'bolt', sample: 0.1 });
    expect(await acme.list()).toEqual([]);
    for (const act of ['get', 'scores', 'remove'] as const) {
      await refused(acme[act]('short'), 'monitor_not_found');
      await refused(acme[act]('short', { tenant: 'bolt' }), 'invalid_input');
    }
    await refused(acme.set('short', { scorers: ['short'] }, { tenant: 'bolt' }), 'invalid_input');
    await bolt.remove('short');
  }
});

test('two tenants may use the same request id, and each gets its own run again', async () => {
  for (const lanefold of both()) {
    const requestId = newId();
    const ask = (tenant: string) => lanefold.forTenant(tenant).runs.enqueue({ agent: 'agent', input: 'hi', requestId });
    const [first, other, again] = [await ask('acme'), await ask('bolt'), await ask('acme')];
    expect(other.threadId).not.toBe(first.threadId);
    expect(again).toMatchObject({ id: first.id, threadId: first.threadId, duplicate: true });
  }
});

test('the id of a thread is taken for all tenants; that is all another one learns', async () => {
  for (const lanefold of both()) {
    const [acme, bolt] = [lanefold.forTenant('acme'), lanefold.forTenant('bolt')];
    const id = newId();
    await bolt.threads.create({ id });
    await refused(acme.threads.create({ id }), 'thread_exists');
    const enqueue = () => acme.runs.enqueue({ agent: 'agent', input: 'x', threadId: id, createThread: true });
    await refused(enqueue(), 'thread_exists');
    await bolt.threads.erase(id);
    await refused(acme.threads.create({ id }), 'thread_exists');
    await refused(enqueue(), 'thread_exists');
    await refused(bolt.threads.create({ id }), 'thread_erased');
  }
});

test('in a transaction of the caller’s the tenant holds for that call alone', async () => {
  const client = new pg.Client({ connectionString: operator.database.url });
  await client.connect();
  const { id } = await operator.threads.create({ tenantId: 'bolt' });
  const acme = operator.forTenant('acme');
  await client.query('begin');
  const run = await acme.runs.enqueue({ agent: 'agent', input: 'x' }, { tx: client });
  expect((await client.query('select lanefold._scope() as scope')).rows).toEqual([{ scope: '*' }]);
  await client.query('commit');
  expect(await operator.threads.get(run.threadId)).toMatchObject({ tenantId: 'acme' });
  await client.query('begin');
  await refused(acme.runs.enqueue({ agent: 'agent', input: 'x', threadId: id }, { tx: client }), 'thread_not_found');
  await client.query('rollback');
  await client.end();
});

test('a role of an API that names no tenant sees and creates nothing', async () => {
  const { id } = await operator.threads.create();
  await refused(api.threads.get(id), 'thread_not_found');
  await expect(api.threads.create()).rejects.toMatchObject({ code: 'database_error', details: { sqlstate: '42501' } });
  const { rows } = await operator.database.pool.query('select count(*)::int from lanefold.thread where id = $1', [id]);
  expect(rows).toEqual([{ count: 1 }]);
});

test('a library of one tenant is that of no other', async () => {
  const acme = await createLanefold({ ...operator.options, tenant: 'acme' });
  try {
    const { id } = await acme.threads.create();
    expect(await operator.threads.get(id)).toMatchObject({ tenantId: 'acme' });
    await refused(acme.threads.create({ tenantId: 'bolt' }), 'invalid_input');
    expect(() => acme.forTenant('bolt')).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    expect(() => operator.forTenant('*')).toThrow(expect.objectContaining({ code: 'invalid_id' }));
  } finally {
    await acme.close();
  }
});

test('connections shared by tenants and an operator mix nothing up', async () => {
  const ids = new Map<string | undefined, string>();
  for (const tenant of [undefined, 'acme', 'bolt'])
    ids.set(tenant, (await operator.threads.create(tenant ? { tenantId: tenant } : {})).id);
  for (const lanefold of both()) {
    const asked = Array.from({ length: 60 }, (_, i) => (['acme', 'bolt'] as const)[i % 2]!);
    const found = await Promise.all(
      asked.flatMap((tenant) =>
        [...ids].map(([owner, id]) =>
          lanefold
            .forTenant(tenant)
            .threads.get(id)
            .then(
              () => owner === tenant,
              () => owner !== tenant,
            ),
        ),
      ),
    );
    expect(found.every(Boolean)).toBe(true);
  }
  for (const id of ids.values()) expect(await operator.threads.get(id)).toMatchObject({ id });
});

test('a server of one tenant serves neither other tenants nor what shows all', async () => {
  const { id } = await operator.threads.create({ tenantId: 'bolt' });
  const own = await operator.threads.create({ tenantId: 'acme' });
  const server = await operator.startServer({ tenant: 'acme', port: 0, nextFreePort: true });
  const status = async (path: string, init?: RequestInit) => (await fetch(server.url + path, init)).status;
  expect(await status(`/v1/threads/${id}`)).toBe(404);
  expect(await status(`/v1/threads/${own.id}`)).toBe(200);
  for (const path of ['/metrics', '/admin/queues']) expect(await status(path), path).toBe(404);
  const created = await fetch(`${server.url}/v1/threads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(await created.json()).toMatchObject({ tenant_id: 'acme' });
  await server.close();
});

test('a library of a tenant is kept for as long as somebody uses it', async () => {
  v8.setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const kept = operator.forTenant('kept');
  const { id } = await kept.threads.create();
  const left = new AbortController();
  const stream = operator.forTenant('read').threads.stream((await operator.forTenant('read').threads.create()).id, {
    signal: left.signal,
  });
  const reading = stream[Symbol.asyncIterator]().next();
  const made = Array.from({ length: 200 }, (_, i) => new WeakRef(operator.forTenant(`once-${i}`)));
  await until('libraries that nobody uses are gone', () => {
    collect();
    return made.every((reference) => reference.deref() === undefined);
  });
  expect(operator.forTenant('kept')).toBe(kept);
  expect(await kept.threads.get(id)).toMatchObject({ tenantId: 'kept' });
  left.abort();
  await expect(reading).rejects.toBe(left.signal.reason);
});

// @module-tag slow
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, mintKey, problem, startApi, type Api } from './helpers.ts';

const root = bearer('root');
let api: Api;
beforeAll(async () => {
  api = await startApi({
    agents: ['mine', 'others'].map((name) => defineAgent({ name, model: 'scripted:echo' })),
    tokenSecrets: ['secret'],
    server: { apiKey: 'root' },
  });
});
afterAll(() => api?.close());

/** Opens a stream that waits, and reads on in the background. */
async function open(threadId: string, auth: Record<string, string>, path = '') {
  const left = new AbortController();
  const response = await fetch(`${api.url}/v1/threads/${threadId}${path}/events?format=sse&wait=true`, {
    headers: auth,
    signal: left.signal,
  });
  const stream = { status: response.status, text: '', kinds: () => names(stream.text), leave: () => left.abort() };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body!) stream.text += decoder.decode(bytes, { stream: true });
  };
  const ended = read().catch(() => {});
  return { ...stream, ended, kinds: () => names(stream.text), text: () => stream.text };
}
const names = (text: string) => text.split('\n').flatMap((line) => (line.startsWith('event: ') ? [line.slice(7)] : []));

const ask = (agent: string, threadId: string) =>
  api.lanefold.runs.enqueue({ agent, input: 'Hello?', threadId, createThread: true });

test('a stream that waits begins with exists, before and after its thread is created', async () => {
  const before = await open('early', root);
  expect(before.status).toBe(200);
  const run = await ask('mine', 'early');
  await expect.poll(before.kinds).toContain('request_completed');
  const after = await open('early', root);
  const ofRun = await open('early', root, `/runs/${run.id}`);
  await expect.poll(after.kinds).toContain('request_completed');
  await ofRun.ended;
  for (const { kinds } of [before, after, ofRun]) {
    expect(kinds()[0]).toBe('exists');
    expect(kinds().filter((kind) => kind === 'exists')).toHaveLength(1);
  }
  expect(before.text()).toContain('data: {"thread_id":"early"}');
  expect(ofRun.text()).toContain(`data: {"thread_id":"early","run_id":"${run.id}"}`);
  before.leave();
  after.leave();
});

test('without wait, and where nothing can be waited for, a stream is refused', async () => {
  const events = '/v1/threads/nowhere/events';
  expect(await api.call('GET', `${events}?format=sse`, undefined, root)).toMatchObject(
    problem(404, 'thread_not_found'),
  );
  for (const format of ['json', 'ui'])
    expect((await api.call('GET', `${events}?format=${format}&wait=true`, undefined, root)).status).toBe(400);
  await api.lanefold.threads.create({ id: 'erased' });
  await api.lanefold.threads.erase('erased');
  for (const path of ['', '/runs/run_1'])
    expect(
      await api.call('GET', `/v1/threads/erased${path}/events?format=sse&wait=true`, undefined, root),
    ).toMatchObject(problem(410, 'thread_erased'));
});

test('a stream that waits for a run ends when its thread is erased', async () => {
  await api.lanefold.threads.create({ id: 'no-run' });
  const stream = await open('no-run', root, '/runs/run_1');
  await api.lanefold.threads.erase('no-run');
  await stream.ended;
  expect(stream.kinds()).toEqual(['problem']);
  expect(stream.text()).toContain('thread_erased');
});

test('a token waits only for its own thread and run', async () => {
  const token = (runId?: string) =>
    bearer(api.lanefold.keys.browserToken({ threadId: 'own', access: 'read', ...(runId ? { runId } : {}) }).token);
  const refused = problem(403, 'forbidden');
  for (const path of ['/v1/threads/early', '/v1/threads/no-such'])
    expect(await api.call('GET', `${path}/events?format=sse&wait=true`, undefined, token())).toMatchObject(refused);
  for (const path of ['', '/runs/run_2'])
    expect(
      await api.call('GET', `/v1/threads/own${path}/events?format=sse&wait=true`, undefined, token('run_1')),
    ).toMatchObject(refused);
  const own = await open('own', token('run_1'), '/runs/run_1');
  expect(own.status).toBe(200);
  own.leave();
});

test('a key learns nothing of a thread that has come, but is not for it', async () => {
  const { auth: agentKey } = await mintKey(api.call, root, { scopes: ['read'], agents: ['mine'] });
  const { auth: tenantKey } = await mintKey(api.call, root, { scopes: ['read'], tenant: 'acme' });
  const ofAgent = await open('secret', agentKey);
  const ofTenant = await open('secret', tenantKey);
  const allowed = await open('secret', root);
  await ask('others', 'secret');
  await expect.poll(allowed.kinds).toContain('request_completed');
  await ofAgent.ended;
  expect(ofAgent.kinds()).toEqual(['problem']);
  expect(ofAgent.text()).toContain('forbidden');
  // to another tenant, an id that is taken looks like one that is not
  const free = await open('free', tenantKey);
  const taken = await open('secret', tenantKey);
  for (const { kinds, status } of [ofTenant, free, taken])
    expect({ status, kinds: kinds() }).toEqual({ status: 200, kinds: [] });
  for (const { leave } of [ofTenant, allowed, free, taken]) leave();
});

test('streams that wait count as open streams, until they are left', async () => {
  const { auth } = await mintKey(api.call, root, { scopes: ['read'], limits: { streams: 1 } });
  const first = await open('waiting', auth);
  expect((await open('waiting', auth)).status).toBe(429);
  first.leave();
  await expect
    .poll(async () => {
      const again = await open('waiting', auth);
      again.leave();
      return again.status;
    })
    .toBe(200);
});

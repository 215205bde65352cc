import { defineAgent } from 'lanefold';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { readSse } from '../support/sse.ts';
import { until } from '../support/until.ts';
import { bearer, caller, problem, startApi, type Api } from './helpers.ts';
import { databaseOf } from '../../src/features/library/internals.ts';

const hourMs = 3_600_000;

let api: Api;
/** Of a server that looks keys up only once, and of one that looks again all the time. */
let once: string;
let often: string;
let runPath: string;
beforeAll(async () => {
  const agents = ['calc', 'shop'].map((name) => defineAgent({ name, model: 'scripted:echo' }));
  api = await startApi({
    agents,
    worker: false,
    tokenSecrets: ['s'],
    server: { apiKey: 'root', keyRecheckMs: hourMs },
  });
  once = api.url;
  often = (await api.lanefold.startServer({ port: 0, apiKey: 'root', keyRecheckMs: 100 })).url;
  const run = await api.lanefold.runs.enqueue({ agent: 'calc', input: 'hi', threadId: 'talk', createThread: true });
  runPath = `/v1/threads/talk/runs/${run.id}/events`;
});
afterAll(() => api?.close());
afterEach(() => void vi.useRealTimers().restoreAllMocks());

const status = async (url: string, auth: Record<string, string>) =>
  (await caller(url)('GET', '/v1/threads/talk', undefined, auth)).status;
/** The three kinds of streams, open with a key. */
const open = async (auth: Record<string, string>) => {
  const readers = [];
  for (const path of ['/v1/threads/talk/events', runPath, `${runPath}?format=ui`]) {
    const reader = await readSse(often + path, auth);
    expect(reader.status).toBe(200);
    readers.push(reader);
  }
  return readers;
};
/** They end by themselves, and say why. */
const expectEnded = async (
  readers: Awaited<ReturnType<typeof open>>,
  of: { status: number; code: string; why: RegExp },
) => {
  await Promise.all(readers.map(({ ended }) => ended));
  const [thread, run, ui] = readers;
  for (const reader of [thread!, run!]) {
    const detail = expect.stringMatching(of.why) as string;
    const last = { event: 'problem', data: { status: of.status, code: of.code, detail } };
    expect(reader.messages.at(-1)).toMatchObject(last);
    expect(reader.messages.at(-1)).not.toHaveProperty('id');
  }
  expect(ui!.messages.slice(-2)).toEqual([
    { data: { type: 'error', errorText: expect.stringMatching(of.why) as string } },
    { data: '[DONE]' },
  ]);
};

/** The clock of the database shows what the faked one of this process shows. */
const asDatabaseClock = () =>
  void vi.spyOn(databaseOf(api.lanefold, 'A test').settings.clock, 'now').mockImplementation(() => Date.now());

describe('an open stream', () => {
  test('ends when its key is revoked, and does not open again', async () => {
    const { id, key } = await api.lanefold.keys.create({ name: 'reader', scopes: ['read'] });
    const readers = await open(bearer(key));
    await api.lanefold.keys.revoke(id);
    await expectEnded(readers, { status: 401, code: 'unauthorized', why: /was revoked/ });
    expect(await caller(often)('GET', runPath, undefined, bearer(key))).toMatchObject(problem(401, 'unauthorized'));
  });

  test('ends when its token expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    asDatabaseClock();
    const { token, expiresAt } = api.lanefold.keys.browserToken({ threadId: 'talk', access: 'chat' });
    const readers = await open(bearer(token));
    vi.setSystemTime(expiresAt);
    await expectEnded(readers, { status: 401, code: 'unauthorized', why: /The token has expired/ });
    expect(await status(often, bearer(token))).toBe(401);
  });

  test('ends at the expiry of its key, however seldom keys are looked up', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    asDatabaseClock();
    // this process's time stands still: the stream opens before the expiry, and waits for it a few times
    const { token, expiresAt } = api.lanefold.keys.browserToken({ threadId: 'talk', access: 'read', expiresInMs: 50 });
    const reader = await readSse(`${once}/v1/threads/talk/events`, bearer(token));
    expect(reader.status).toBe(200);
    vi.setSystemTime(expiresAt);
    await reader.ended;
    expect(reader.events()).toContain('problem');
  });

  test('of a key that is bound to agents ends when another agent starts a run in its thread', async () => {
    const { key } = await api.lanefold.keys.create({ name: 'calc', scopes: ['read'], agents: ['calc'] });
    const readers = await open(bearer(key));
    await api.lanefold.runs.enqueue({ agent: 'shop', input: 'hi', threadId: 'talk', busy: 'wait' });
    await expectEnded(readers, { status: 403, code: 'forbidden', why: /another agent/ });
  });

  test('continues while its key works, and while the database does not say', async () => {
    const { id, key } = await api.lanefold.keys.create({ name: 'reader', scopes: ['read'] });
    const reader = await readSse(`${often}/v1/threads/talk/events`, bearer(key));
    let asked = 0;
    const asking = vi.spyOn(api.lanefold.keys, 'find').mockImplementation(() => {
      asked += 1;
      return Promise.reject(new Error('the database is down'));
    });
    await until('the key was looked up a few times', () => asked > 3);
    asking.mockRestore();
    const run = await api.lanefold.runs.enqueue({ agent: 'calc', input: 'x', threadId: 'talk', busy: 'wait' });
    await api.lanefold.runs.cancel(run);
    await until('its end arrives', () => reader.raw().includes(run.id));
    await api.lanefold.keys.revoke(id);
    await reader.ended;
  });
});

test.each([0, -1, 99, 0.5, Infinity, NaN])(
  'a server that would look keys up every %s ms does not start',
  async (keyRecheckMs) => {
    const server = api.lanefold.startServer({ port: 0, keyRecheckMs });
    await expect(server).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/keyRecheckMs/),
    });
  },
);

test('an expired key is refused at once, though the server looked it up before', async () => {
  const { key } = await api.lanefold.keys.create({ name: 'brief', scopes: ['read'], expiresInMs: hourMs });
  expect(await status(once, bearer(key))).toBe(200);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * hourMs });
  asDatabaseClock();
  expect(await status(once, bearer(key))).toBe(401);
});

test('a revoked key is refused with the next look', async () => {
  const { id, key } = await api.lanefold.keys.create({ name: 'gone', scopes: ['read'] });
  expect(await status(often, bearer(key))).toBe(200);
  await api.lanefold.keys.revoke(id);
  await until('the server has looked', async () => (await status(often, bearer(key))) === 401);
});

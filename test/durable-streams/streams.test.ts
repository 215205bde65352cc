// @module-tag slow
import { DurableStream, IdempotentProducer, stream } from '@durable-streams/client';
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bearer, mintKey, problem, startApi, type Api } from '../api/helpers.ts';
import { createApp } from '../../src/doors/app.ts';
import { until } from '../support/until.ts';
import { parseSse } from './parse-sse.ts';
import { rowsOf } from './rows.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi({
    agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })],
    server: { apiKey: 'root', keyRecheckMs: 100 },
    tokenSecrets: ['a secret of at least thirty-two bytes'],
  });
});
afterAll(() => api?.close());

const root = bearer('root');
const text = { ...root, 'content-type': 'text/plain' };
const json = { ...root, 'content-type': 'application/json' };
const put = (path: string, headers: Record<string, string>, body?: string) =>
  api.call('PUT', path, body, { ...headers });
const post = (path: string, headers: Record<string, string>, body?: string) => api.call('POST', path, body, headers);
const get = (path: string, headers = root) => api.call('GET', path, undefined, headers);
const next = ({ headers }: { headers: Headers }) => headers.get('stream-next-offset')!;

/** A thread in which the agent has answered. */
async function answered(id: string): Promise<{ run: string; events: object[] }> {
  const run = await api.lanefold.runs.enqueue({
    agent: 'echo',
    input: `About ${id}?`,
    threadId: id,
    createThread: true,
  });
  await api.lanefold.runs.wait(run);
  const events = (await get(`/v1/threads/${id}/events?limit=1000`)).body as { data: object[] };
  return { run: run.id, events: events.data };
}

describe('a trace', () => {
  test('of a thread and of a run is a stream of its events; that of a run closes with it', async () => {
    const { run, events } = await answered('trace');
    await answered('trace');
    const ofRun = await get(`/v1/threads/trace/runs/${run}/stream`);
    expect(ofRun.body).toEqual(events);
    expect(ofRun.headers.get('stream-closed')).toBe('true');
    const ofThread = await get('/v1/threads/trace/stream');
    expect((ofThread.body as object[]).slice(0, events.length)).toEqual(events);
    expect((ofThread.body as object[]).length).toBe(2 * events.length);
    expect(ofThread.headers.get('stream-closed')).toBeNull();
    const end = await get(`/v1/threads/trace/runs/${run}/stream?offset=${next(ofRun)}&live=long-poll`);
    expect([end.status, end.headers.get('stream-closed')]).toEqual([204, 'true']);
    const head = await api.call('HEAD', `/v1/threads/trace/runs/${run}/stream`, undefined, root);
    expect([head.status, next(head), head.headers.get('stream-closed')]).toEqual([200, next(ofRun), 'true']);
  });

  test('is followed by the client of the protocol, from its beginning or where it stopped', async () => {
    const { threads, runs } = api.lanefold;
    await threads.create({ id: 'live' });
    const run = await runs.enqueue({ agent: 'echo', input: 'hi', threadId: 'live' });
    const url = `${api.url}/v1/threads/live/runs/${run.id}/stream`;
    const kinds = async (live: 'sse' | 'long-poll') => {
      const response = await stream<{ kind: string }>({ url, headers: root, offset: '-1', live });
      const found: string[] = [];
      for await (const { kind } of response.jsonStream()) found.push(kind);
      return found;
    };
    const [first, second] = await Promise.all([kinds('sse'), kinds('long-poll')]);
    expect(first).toEqual((await runs.events(run)).map(({ kind }) => kind));
    expect(second).toEqual(first);
  });

  test('gives a reader that was there before the run began all of it, also what follows its end', async () => {
    const own = await startApi({ worker: false, agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
    const run = await own.lanefold.runs.enqueue({ agent: 'echo', input: 'hi', threadId: 't', createThread: true });
    const seen: { kind: string }[] = [];
    let closed = false;
    const response = await fetch(`${own.url}/v1/threads/t/runs/${run.id}/stream?offset=-1&live=sse`);
    let started: Promise<unknown> | undefined;
    for await (const { event, data } of parseSse(response.body!)) {
      started ??= own.lanefold.startWorker();
      if (event === 'data') seen.push(...(JSON.parse(data) as { kind: string }[]));
      else closed = (JSON.parse(data) as { streamClosed?: boolean }).streamClosed === true;
    }
    await started;
    expect(closed).toBe(true);
    expect(seen.map(({ kind }) => kind)).toEqual((await own.lanefold.runs.events(run)).map(({ kind }) => kind));
    await own.close();
  });

  test('is written by workers alone, and missing where its thread or run is', async () => {
    await answered('closed');
    for (const method of ['PUT', 'POST', 'DELETE'])
      expect(await api.call(method, '/v1/threads/closed/stream', undefined, root)).toMatchObject(
        problem(405, 'method_not_allowed'),
      );
    expect(await get('/v1/threads/none/stream')).toMatchObject(problem(404, 'thread_not_found'));
    expect(await get('/v1/threads/closed/runs/none/stream')).toMatchObject(problem(404, 'run_not_found'));
    expect(await get('/v1/threads/closed/stream?offset=0000000000000000_0000000000099999')).toMatchObject(
      problem(400, 'invalid_input'),
    );
  });

  test('is forked by pointer: the fork has its events up to there, and then its own messages', async () => {
    const { run, events } = await answered('forked');
    const from = { 'stream-forked-from': '/v1/threads/forked/stream' };
    const created = await put('/v1/threads/forked/streams/notes', { ...root, ...from });
    expect(created.status).toBe(201);
    expect((await post('/v1/threads/forked/streams/notes', json, '[{"note":1},{"note":2}]')).status).toBe(204);
    await answered('forked');
    expect((await get('/v1/threads/forked/streams/notes')).body).toEqual([...events, { note: 1 }, { note: 2 }]);
    const rest = await get(`/v1/threads/forked/streams/notes?offset=${next(created)}`);
    expect(rest.body).toEqual([{ note: 1 }, { note: 2 }]);
    expect(rest.headers.get('stream-up-to-date')).toBe('true');

    // at an offset of a run, and on from a fork of a fork
    const at = { 'stream-fork-offset': '0000000000000000_0000000000000002' };
    const ofRun = { 'stream-forked-from': `/v1/threads/forked/runs/${run}/stream`, ...at };
    expect((await put('/v1/threads/forked/streams/start', { ...root, ...ofRun })).status).toBe(201);
    const ofFork = { 'stream-forked-from': '/v1/threads/forked/streams/start' };
    expect((await put('/v1/threads/forked/streams/again', { ...root, ...ofFork })).status).toBe(201);
    expect((await get('/v1/threads/forked/streams/again')).body).toEqual(events.slice(0, 2));
    const stored = await rowsOf(
      api,
      'select from lanefold._stream_chunk c join lanefold._stream s on s.id = c.stream_id',
    );
    expect(stored.length).toBe(2);
    const beyond = { ...from, 'stream-fork-offset': '0000000000000000_0000000000099999' };
    expect(await put('/v1/threads/forked/streams/far', { ...root, ...beyond })).toMatchObject(
      problem(400, 'invalid_input'),
    );
    expect(await put('/v1/threads/forked/streams/text', { ...text, ...from })).toMatchObject(
      problem(409, 'stream_type_mismatch'),
    );
  });
});

describe('a stream', () => {
  test('is written by a producer of the client once, whatever is sent again', async () => {
    const url = `${api.url}/v1/stream/produced`;
    const created = await DurableStream.create({ url, headers: root, contentType: 'application/json' });
    const producer = new IdempotentProducer(created, 'p', { epoch: 0 });
    for (let n = 0; n < 50; n++) producer.append(JSON.stringify({ n }));
    await producer.flush();
    await producer.detach();
    expect((await get('/v1/stream/produced')).body).toEqual(Array.from({ length: 50 }, (_, n) => ({ n })));
  });

  test('fences a producer that was replaced, and keeps nothing of what it refuses', async () => {
    const path = '/v1/stream/fenced';
    await put(path, text);
    const by = (epoch: number, seq: number) => ({
      ...text,
      'producer-id': 'p',
      'producer-epoch': String(epoch),
      'producer-seq': String(seq),
    });
    expect((await post(path, by(0, 0), 'a')).status).toBe(200);
    expect((await post(path, by(0, 0), 'a')).status).toBe(204);
    const gap = await post(path, by(0, 3), 'x');
    expect(gap).toMatchObject(problem(409, 'stream_conflict'));
    expect(gap.headers.get('producer-expected-seq')).toBe('1');
    expect((await post(path, by(1, 0), 'b')).status).toBe(200);
    const stale = await post(path, by(0, 1), 'x');
    expect(stale).toMatchObject(problem(403, 'stale_producer'));
    expect(stale.headers.get('producer-epoch')).toBe('1');
    expect((await get(path)).text).toBe('ab');
  });

  test('has numbers that a writer gives its appends, which only rise, also over appends without one', async () => {
    const path = '/v1/stream/numbered';
    expect((await put(path, text)).status).toBe(201);
    const append = (data: string, seq?: string) =>
      post(path, seq === undefined ? text : { ...text, 'stream-seq': seq }, data);
    expect((await append('a', '2')).status).toBe(204);
    expect((await append('b')).status).toBe(204);
    for (const seq of ['1', '2']) expect(await append('x', seq)).toMatchObject(problem(409, 'stream_conflict'));
    expect((await append('c', '3')).status).toBe(204);
    expect((await get(path)).text).toBe('abc');
  });

  test('keeps numbers and text of JSON as they were sent', async () => {
    const messages = ['{"n":12345678901234567890.10,"s":"a\\u0000,]\\"[{"}', '[1,[2]]', '"x"', 'null', '-0'];
    await put('/v1/stream/exact', json);
    await post('/v1/stream/exact', json, ` [ ${messages.join(' ,\n')} ] `);
    expect((await get('/v1/stream/exact')).text).toBe(`[${messages.join(',')}]`);
  });

  test('in pages loses nothing at their ends', async () => {
    const line = 'ä'.repeat(40_000);
    await put('/v1/stream/pages', text);
    for (let n = 0; n < 10; n++) await post('/v1/stream/pages', text, line);
    let offset = '-1';
    const pages: string[] = [];
    for (let done = false; !done;) {
      const page = await get(`/v1/stream/pages?offset=${offset}&live=long-poll`);
      pages.push(page.text);
      offset = next(page);
      done = page.headers.get('stream-up-to-date') === 'true';
    }
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.join('')).toBe(line.repeat(10));
  });

  test('is deleted once it has expired, by whatever request comes later, and so is what was kept for its forks', async () => {
    await put('/v1/stream/source', { ...text, 'stream-ttl': '1000' }, 'inherited');
    await put('/v1/stream/fork', { ...root, 'stream-forked-from': '/v1/stream/source' });
    expect((await api.call('DELETE', '/v1/stream/source', undefined, root)).status).toBe(204);
    expect(await get('/v1/stream/source')).toMatchObject(problem(410, 'stream_deleted'));
    expect((await get('/v1/stream/fork')).text).toBe('inherited');
    const chunks = "select from lanefold._stream_chunk where data = 'inherited'";
    expect(await rowsOf(api, chunks)).toHaveLength(1);
    await rowsOf(api, "update lanefold._stream set expires_at = now() where name = 'fork'");
    // the process looks once a minute
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000);
    await get('/v1/stream/another');
    clock.mockRestore();
    const left = "select name from lanefold._stream where name in ('source', 'fork')";
    await until('both are gone', async () => (await rowsOf(api, left)).length === 0);
    expect(await rowsOf(api, chunks)).toHaveLength(0);
    expect(await get('/v1/stream/source')).toMatchObject(problem(404, 'stream_not_found'));
  });

  test('that has expired is deleted in portions, each in a transaction', async () => {
    await put('/v1/stream/portions', { ...json, 'stream-ttl': '1000' });
    await post('/v1/stream/portions', json, JSON.stringify(Array.from({ length: 25 }, (_, n) => n)));
    await rowsOf(api, "update lanefold._stream set expires_at = now() - interval '1 h' where name = 'portions'");
    const drop = async () => (await rowsOf(api, 'select lanefold.drop_expired_streams(10) as rows'))[0];
    expect([await drop(), await drop(), await drop(), await drop()]).toEqual([10, 10, 6, 0].map((rows) => ({ rows })));
  });

  test('is forked a hundred times over, and no more', async () => {
    await put('/v1/stream/deep-0', text, 'x');
    const fork = (n: number) =>
      put(`/v1/stream/deep-${n}`, { ...root, 'stream-forked-from': `/v1/stream/deep-${n - 1}` });
    for (let n = 1; n < 100; n++) expect((await fork(n)).status).toBe(201);
    expect(await fork(100)).toMatchObject(problem(409, 'stream_conflict'));
    expect((await get('/v1/stream/deep-99')).text).toBe('x');
  });

  test('has its bytes whatever its type begins with, and its characters over the ends of appends', async () => {
    const bytes = Buffer.from([0x1e, 0xff, 0xfe, 0x00, 0xe2, 0x82]);
    const sequence = { ...root, 'content-type': 'application/json-seq' };
    const url = `${api.url}/v1/stream/sequence`;
    await fetch(url, { method: 'PUT', headers: sequence, body: bytes });
    expect(Buffer.from(await (await fetch(url, { headers: root })).arrayBuffer())).toEqual(bytes);

    const euro = Buffer.from('12 €, 13 🙂.');
    const path = `${api.url}/v1/stream/cut-characters`;
    await fetch(path, { method: 'PUT', headers: text });
    const response = await fetch(`${path}?offset=-1&live=sse`, { headers: root });
    let read = '';
    let sent = 0;
    for await (const { event, data } of parseSse(response.body!)) {
      if (event === 'data') read += data;
      else {
        const { streamNextOffset } = JSON.parse(data) as { streamNextOffset: string };
        // what has an offset was given: the rest of a character follows from there
        const { text: rest } = await get(`/v1/stream/cut-characters?offset=${streamNextOffset}`);
        expect(euro.subarray(0, sent).toString().replace('\ufffd', '')).toBe(read);
        expect(Buffer.byteLength(read) + Buffer.byteLength(rest) >= sent).toBe(true);
        if (sent < euro.byteLength) {
          const body = euro.subarray(sent, ++sent);
          await fetch(path, { method: 'POST', headers: text, body });
        } else await fetch(path, { method: 'POST', headers: { ...text, 'stream-closed': 'true' } });
      }
    }
    expect(read).toBe(euro.toString());
  });

  test('of a thread is erased with it, with its forks and those of its trace', async () => {
    await answered('erased');
    const path = '/v1/threads/erased/streams';
    await put(`${path}/own`, text, 'private');
    await put(`${path}/fork`, { ...root, 'stream-forked-from': `${path}/own` });
    await put(`${path}/trace`, { ...root, 'stream-forked-from': '/v1/threads/erased/stream' });
    await post(`${path}/own`, { ...text, 'producer-id': 'p', 'producer-epoch': '0', 'producer-seq': '0' }, 'private');
    await api.lanefold.threads.erase('erased');
    for (const name of ['own', 'fork', 'trace'])
      expect(await get(`${path}/${name}`)).toMatchObject(problem(404, 'stream_not_found'));
    expect(await put(`${path}/own`, text)).toMatchObject(problem(410, 'thread_erased'));
    expect(await rowsOf(api, "select from lanefold._stream_chunk where data = 'private'")).toEqual([]);
    expect(await rowsOf(api, "select from lanefold._stream where thread_id = 'erased'")).toEqual([]);
    expect(
      await rowsOf(
        api,
        "select from lanefold._stream_producer where producer = 'p' and stream_id not in (select id from lanefold._stream)",
      ),
    ).toEqual([]);
  });
});

test('the erasure of a tenant takes its streams that belong to no thread, and none of another', async () => {
  const holders = await Promise.all(
    ['acme', 'bolt'].map(async (tenant) => (await mintKey(api.call, root, { scopes: ['read', 'run'], tenant })).auth),
  );
  for (const auth of holders) expect((await put('/v1/stream/own', { ...text, ...auth }, 'x')).status).toBe(201);
  await api.lanefold.threads.eraseTenant('acme');
  expect((await get('/v1/stream/own', holders[0])).status).toBe(404);
  expect((await get('/v1/stream/own', holders[1])).text).toBe('x');
});

describe('a long-poll', () => {
  test('of a client that left before it began does not wait', async () => {
    await put('/v1/stream/silent', text);
    const app = createApp(api.lanefold, { apiKey: 'root', maxStreams: 1 });
    const ask = (signal: AbortSignal) =>
      app.fetch(new Request('http://127.0.0.1/v1/stream/silent?offset=now&live=long-poll', { headers: root, signal }));
    // without a timer of its own: it would end for no other reason
    vi.stubGlobal('setTimeout', () => ({ unref() {}, ref() {} }));
    onTestFinished(() => void vi.unstubAllGlobals());
    for (const _ of [1, 2]) expect((await ask(AbortSignal.abort())).status).toBe(204);
  });

  test('of a client that has left keeps no place among the streams of its key', async () => {
    await put('/v1/stream/open', text);
    await put('/v1/stream/over', { ...text, 'stream-closed': 'true' });
    const { auth } = await mintKey(api.call, root, { scopes: ['read'], limits: { streams: 1 } });
    // by itself, a long-poll would end after twenty seconds and give its place back
    const { setTimeout: schedule } = globalThis;
    vi.stubGlobal('setTimeout', (work: () => void, ms?: number) => schedule(work, ms === 20_000 ? 2 ** 31 - 1 : ms));
    onTestFinished(() => void vi.unstubAllGlobals());
    const left = new AbortController();
    const wait = async () => {
      const url = `${api.url}/v1/stream/open?offset=now&live=long-poll`;
      // the other reader may have the place for a moment
      while (!left.signal.aborted) await fetch(url, { headers: auth, signal: left.signal }).catch(() => {});
    };
    const waiting = wait();
    const status = async () => (await get('/v1/stream/over?offset=now&live=long-poll', auth)).status;
    await until('the place is taken', async () => (await status()) === 429);
    left.abort();
    await waiting;
    await until('the place is free', async () => (await status()) === 204);
  });
});

describe('the doors of one thread', () => {
  const secret = 'secret-of-b';
  let run: string;
  beforeAll(async () => {
    await answered('a-1');
    ({ run } = await answered('b-1'));
    for (const path of ['/v1/threads/b-1/streams/s', '/v1/stream/s'])
      expect((await put(path, text, secret)).status).toBe(201);
    await put('/v1/threads/a-1/streams/mine', text, 'mine');
  });

  const doors = () => [
    '/v1/threads/b-1/stream',
    `/v1/threads/b-1/runs/${run}/stream`,
    '/v1/threads/b-1/streams/s',
    '/v1/stream/s',
  ];
  const modes = ['', '?offset=-1', '?offset=now', '?offset=-1&live=long-poll', '?offset=-1&live=sse'];
  const holders = async (): Promise<Record<string, Record<string, string>>> => {
    const token = (fields: { runId?: string }) =>
      bearer(api.lanefold.keys.browserToken({ threadId: 'a-1', access: 'chat', ...fields }).token);
    const scopes = ['read', 'run', 'steer', 'approve', 'admin'];
    return {
      'a token of another thread': token({}),
      'a token of a run of another thread': token({ runId: run }),
      'a key of other threads': (await mintKey(api.call, root, { scopes, thread_prefix: 'a-' })).auth,
      'a key of another tenant': (await mintKey(api.call, root, { scopes, tenant: 'acme' })).auth,
      'a key of another agent': (await mintKey(api.call, root, { scopes, agents: ['other'] })).auth,
    };
  };

  test('show nothing to tokens and keys of others, live or not, and take nothing from them', async () => {
    const passed: string[] = [];
    for (const [who, auth] of Object.entries(await holders())) {
      for (const door of doors()) {
        for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE']) {
          for (const mode of method === 'GET' ? modes : ['']) {
            // a tenant has names of its own
            if (who === 'a key of another tenant' && door === '/v1/stream/s' && method === 'PUT') continue;
            const data = (method === 'PUT' || method === 'POST') && door.endsWith('/s');
            const type: Record<string, string> = data ? { 'content-type': 'text/plain' } : {};
            const answer = await api.call(method, door + mode, data ? 'x' : undefined, { ...auth, ...type });
            if (
              ![403, 404, 405].includes(answer.status) ||
              answer.text.includes(secret) ||
              answer.text.includes('b-1?')
            )
              passed.push(`${who}: ${method} ${door}${mode} ${answer.status}`);
          }
        }
      }
    }
    expect(passed).toEqual([]);
    for (const door of doors().slice(2)) expect((await get(door)).text).toBe(secret);
  });

  test('do not open through a fork', async () => {
    const passed: string[] = [];
    for (const [who, auth] of Object.entries(await holders())) {
      for (const door of doors()) {
        for (const at of ['/v1/threads/a-1/streams/stolen', '/v1/stream/stolen']) {
          const answer = await put(at, { ...auth, 'stream-forked-from': door });
          if (![400, 403, 404].includes(answer.status)) passed.push(`${who}: ${at} from ${door} ${answer.status}`);
          expect((await get(at, auth)).text).not.toContain(secret);
        }
      }
    }
    // nor for who may see both: the fork would outlive the thread
    const tricks = [
      '/v1/threads/b-1/streams/s',
      '/v1/threads/a-1/../b-1/streams/s',
      '/v1/threads/a-1/streams/..%2F..%2Fb-1%2Fstreams%2Fs',
      '/v1/threads/a-1/streams/s/../../../b-1/streams/s',
    ];
    for (const door of tricks)
      expect(await put('/v1/threads/a-1/streams/stolen', { ...root, 'stream-forked-from': door })).toMatchObject({
        status: 400,
      });
    expect(passed).toEqual([]);
  });

  test('are open to the token of the thread to read, which writes nothing', async () => {
    const auth = bearer(api.lanefold.keys.browserToken({ threadId: 'b-1', access: 'approve' }).token);
    for (const door of doors().slice(0, 3)) expect((await get(door, auth)).status).toBe(200);
    expect(await get('/v1/stream/s', auth)).toMatchObject(problem(403, 'forbidden'));
    for (const method of ['PUT', 'POST', 'DELETE'])
      expect(await api.call(method, '/v1/threads/b-1/streams/s', undefined, auth)).toMatchObject(
        problem(403, 'forbidden'),
      );
  });

  test('stay shut for a live reader once its key is revoked', async () => {
    const { id, auth } = await mintKey(api.call, root, { scopes: ['read'] });
    // by itself, the response would end after a minute
    const { setTimeout: schedule } = globalThis;
    vi.stubGlobal('setTimeout', (work: () => void, ms?: number) => schedule(work, ms === 60_000 ? 2 ** 31 - 1 : ms));
    const response = await fetch(`${api.url}/v1/stream/s?offset=now&live=sse`, { headers: auth });
    vi.unstubAllGlobals();
    const ended = response.text();
    expect((await api.call('DELETE', `/v1/keys/${id}`, undefined, root)).status).toBeLessThan(300);
    expect(await ended).toContain('streamNextOffset');
    expect(await get('/v1/stream/s', auth)).toMatchObject(problem(401, 'unauthorized'));
  });
});

test('what a stream serves under a type of its writer is no page of the server', async () => {
  const html = '<form action="https://evil.example"><script>alert(1)</script>';
  for (const type of ['text/html', 'image/svg+xml', 'application/xhtml+xml']) {
    const path = `/v1/stream/page-${type.replaceAll(/\W/g, '-')}`;
    expect((await put(path, { ...root, 'content-type': type }, html)).status).toBe(201);
    const answers = [
      await get(path),
      await get(`${path}?offset=-1&live=long-poll`),
      await api.call('HEAD', path, undefined, root),
      await get(`${path}?offset=nowhere`),
    ];
    expect(answers[0]!.text).toBe(html);
    for (const { headers } of answers) {
      const policy = headers.get('content-security-policy')!.split('; ');
      expect(policy).toEqual(expect.arrayContaining(['sandbox', "default-src 'none'", "form-action 'none'"]));
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  }
});

describe('read at once, without following it', () => {
  const large = 'x'.repeat(50_000);
  const headers = root;

  const messages = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => ({ n: from + n, large }));

  test('a stream of up to 4 MiB is returned whole', async () => {
    await put('/v1/stream/whole', json);
    await post('/v1/stream/whole', json, JSON.stringify(messages(0, 20)));
    const read = await stream({ url: `${api.url}/v1/stream/whole`, headers, live: false });
    expect(await read.json()).toEqual(messages(0, 20));
    await put('/v1/stream/whole-text', text);
    for (const { n } of messages(0, 8)) await post('/v1/stream/whole-text', text, `${n}${large}`);
    const words = await stream({ url: `${api.url}/v1/stream/whole-text`, headers, live: false });
    expect(await words.text()).toBe(
      messages(0, 8)
        .map(({ n }) => `${n}${large}`)
        .join(''),
    );
  });

  test('a larger one returns its beginning, and the rest follows it', async () => {
    await put('/v1/stream/larger', json);
    for (const from of [0, 50]) await post('/v1/stream/larger', json, JSON.stringify(messages(from, from + 50)));
    const first = await get('/v1/stream/larger');
    expect(first.headers.get('stream-up-to-date')).toBeNull();
    const rest = await get(`/v1/stream/larger?offset=${next(first)}`);
    expect(rest.headers.get('stream-up-to-date')).toBe('true');
    const numbers = [first, rest].flatMap(({ body }) => (body as { n: number }[]).map(({ n }) => n));
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  test('a trace of more than a page is returned whole', async () => {
    const { run, events } = await answered('long-trace');
    const ask = { agent: 'echo', input: 'More?', threadId: 'long-trace', busy: 'wait' as const };
    const more = [];
    for (let n = 0; n < Math.ceil(200 / events.length); n++) more.push(await api.lanefold.runs.enqueue(ask));
    for (const one of more) await api.lanefold.runs.wait(one);
    const { data } = (await get('/v1/threads/long-trace/events?limit=1000')).body as { data: object[] };
    expect(data.length).toBeGreaterThan(200);
    const read = await stream({ url: `${api.url}/v1/threads/long-trace/stream`, headers, live: false });
    expect(await read.json()).toEqual(data);
    expect((await get(`/v1/threads/long-trace/runs/${run}/stream`)).headers.get('stream-closed')).toBe('true');
  });
});

// @module-tag slow
import http from 'node:http';
import { createClient, isClientError, LanefoldClientError } from 'lanefold/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bearer, startApi, type Api } from '../api/helpers.ts';
import { listenFor } from '../support/listen.ts';
import { cuttingProxy } from './cutting-proxy.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi({ server: { apiKey: 'root' }, tokenSecrets: ['s'] });
  await api.lanefold.threads.create({ id: 't-1' });
});
afterAll(() => api?.close());

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A server that answers as the test says, and counts the requests. */
async function server(answer: http.RequestListener): Promise<{ url: string; requests: http.IncomingMessage[] }> {
  const requests: http.IncomingMessage[] = [];
  const own = http.createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  closing.push(
    () => void own.close(),
    () => own.closeAllConnections(),
  );
  return { url: (await listenFor(own, 'http://own')).replace(/\/$/, ''), requests };
}

const errorOf = async (work: Promise<unknown>): Promise<LanefoldClientError> => {
  const error = await work.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LanefoldClientError);
  return error as LanefoldClientError;
};
const quick = { maxRetries: 2, retryDelayMs: 1 };

describe('bad input is a typed error that says what to do', () => {
  test.each(['', 'agents.example.com', 'ftp://agents', 'http://'])('%j is no URL', (url) => {
    if (url === '') expect(() => createClient({ url })).not.toThrow();
    else expect(() => createClient({ url })).toThrow(expect.objectContaining({ code: 'invalid_input' }) as Error);
  });

  test('a server that is not there', async () => {
    const error = await errorOf(createClient({ url: 'http://127.0.0.1:9', ...quick }).threads.get('t-1'));
    expect(error).toMatchObject({ code: 'unreachable', status: 0, hint: expect.stringContaining('Check the URL') });
    expect(error.message).toContain('http://127.0.0.1:9/v1/threads/t-1');
    expect(isClientError(error, 'unreachable')).toBe(true);
    const follow = async () => {
      for await (const item of createClient({ url: 'http://127.0.0.1:9', ...quick }).threads.stream('t-1'))
        throw new Error(item.type);
    };
    expect(await errorOf(follow())).toMatchObject({ code: 'unreachable' });
  });

  test.each([200, 404, 502])('a server that answers %i with HTML', async (status) => {
    const { url, requests } = await server((_, response) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
    );
    const client = createClient({ url, ...quick });
    const error = await errorOf(client.threads.get('t-1'));
    expect(error).toMatchObject({ code: 'unexpected_answer', status, hint: expect.stringContaining('Check the URL') });
    expect(error.message).toContain('text/html');
    // a gateway may have its server back
    expect(requests).toHaveLength(status === 502 ? 3 : 1);
    expect(await errorOf(client.runs.stream({ threadId: 't', id: 'r' }).next())).toMatchObject({
      code: 'unexpected_answer',
    });
  });

  test('a page instead of the API', async () => {
    const client = createClient({ url: `${api.url}/page`, apiKey: 'root' });
    expect(await errorOf(client.threads.list())).toMatchObject({ code: 'not_found', status: 404 });
  });

  test('a wrong key, and none', async () => {
    for (const apiKey of ['wrong', undefined]) {
      const client = createClient({ url: api.url, ...(apiKey ? { apiKey } : {}) });
      const expected = { code: 'unauthorized', status: 401, hint: expect.stringContaining('LANEFOLD_API_KEY') };
      expect(await errorOf(client.threads.get('t-1'))).toMatchObject(expected);
      expect(await errorOf(client.threads.stream('t-1').next())).toMatchObject(expected);
    }
    expect(() => createClient({ url: api.url, apiKey: 'a', token: 'b' })).toThrow(/several/);
  });

  test('a run and a thread that do not exist, and ids that are none', async () => {
    const client = createClient({ url: api.url, apiKey: 'root' });
    const run = { threadId: 't-1', id: 'run_none' };
    expect(await errorOf(client.runs.get(run))).toMatchObject({ code: 'run_not_found', status: 404 });
    expect(await errorOf(client.runs.wait(run))).toMatchObject({ code: 'run_not_found' });
    expect(await errorOf(client.runs.stream(run).next())).toMatchObject({ code: 'run_not_found' });
    expect(await errorOf(client.threads.get('none'))).toMatchObject({ code: 'thread_not_found' });
    // none leaves its place in the path
    for (const id of ['../admin', 'a/b?c'])
      expect((await errorOf(client.threads.get(id))).status).toBeGreaterThanOrEqual(400);
    for (const id of ['..', '.', '', undefined as unknown as string]) {
      expect(await errorOf(client.threads.get(id))).toMatchObject({ code: 'invalid_id' });
      expect(await errorOf(client.threads.stream(id).next())).toMatchObject({ code: 'invalid_id' });
    }
  });

  test('an agent with a typo, and fields that are none', async () => {
    const client = createClient({ url: api.url, apiKey: 'root' });
    const error = await errorOf(client.runs.enqueue({ agent: 'calk', input: 'x', threadId: 't-1' }));
    expect(error).toMatchObject({ code: 'unknown_agent', status: 422 });
    expect(`${error.message} ${error.hint}`).toContain('calc');
    const invalid = await errorOf(client.runs.enqueue({ agent: 'calc', input: 'x', maxIteration: 3 } as never));
    expect(invalid).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'max_iteration' }],
    });
  });

  test('a token of another thread, an altered one, and one that has expired', async () => {
    const token = (threadId: string, expiresInMs = 60_000) =>
      api.lanefold.keys.browserToken({ threadId, access: 'read', expiresInMs }).token;
    const get = (token: string) => errorOf(createClient({ url: api.url, token }).threads.get('t-1'));
    expect(await get(token('t-2'))).toMatchObject({ code: 'forbidden', status: 403 });
    expect(await get(`${token('t-1')}x`)).toMatchObject({ code: 'unauthorized' });
    const brief = token('t-1', 1);
    await expect
      .poll(() =>
        createClient({ url: api.url, token: brief })
          .threads.get('t-1')
          .catch(({ code }) => code as string),
      )
      .toBe('unauthorized');
  });
});

describe('a token from getToken', () => {
  const mint = (expiresInMs: number) =>
    api.lanefold.keys.browserToken({ threadId: 't-1', access: 'read', expiresInMs }).token;

  test('is asked for once, and again when the server rejects it', async () => {
    const given: string[] = [];
    const getToken = () => {
      given.push(given.length === 0 ? 'lft_wrong.token' : mint(60_000));
      return given.at(-1)!;
    };
    const client = createClient({ url: api.url, getToken });
    await Promise.all([client.threads.get('t-1'), client.threads.get('t-1')]);
    expect(given.length).toBeLessThanOrEqual(3);
    const before = given.length;
    await client.threads.get('t-1');
    expect(given).toHaveLength(before);
  });

  test('is renewed in the middle of a stream, which continues', async () => {
    await api.lanefold.threads.create({ id: 'renewed' });
    let asked = 0;
    const getToken = () => {
      asked += 1;
      const options = { threadId: 'renewed', access: 'read', expiresInMs: asked === 1 ? 1_500 : 60_000 } as const;
      return api.lanefold.keys.browserToken(options).token;
    };
    const stop = new AbortController();
    const kinds: string[] = [];
    const followed = (async () => {
      const client = createClient({ url: api.url, getToken, retryDelayMs: 1 });
      for await (const item of client.threads.stream('renewed', { deltas: false, signal: stop.signal }))
        if (item.type === 'event') kinds.push(item.event.kind);
    })();
    const ask = async () =>
      api.lanefold.runs.wait(await api.lanefold.runs.enqueue({ agent: 'calc', input: 'x', threadId: 'renewed' }));
    await ask();
    await expect.poll(() => asked, { timeout: 60_000 }).toBe(2);
    await ask();
    await expect.poll(() => kinds.filter((kind) => kind === 'request_completed'), { timeout: 60_000 }).toHaveLength(2);
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(followed).rejects.toBe(reason);
    expect(kinds.filter((kind) => kind === 'request_started')).toHaveLength(2);
  });

  test('that never comes does not hold up a call that is left', async () => {
    const left = new AbortController();
    const reason = new Error('left');
    let asked = false;
    const getToken = () => {
      asked = true;
      return new Promise<string>(() => {});
    };
    const call = createClient({ url: api.url, getToken }).threads.get('t-1', { signal: left.signal });
    await expect.poll(() => asked).toBe(true);
    left.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  test('that cannot be had is an error', async () => {
    const getToken = () => Promise.reject(new Error('not signed in'));
    const error = await errorOf(createClient({ url: api.url, getToken, ...quick }).threads.get('t-1'));
    expect(error).toMatchObject({ code: 'no_token', message: expect.stringContaining('not signed in') });
  });
});

describe('a request is sent again', () => {
  const problem = (status: number, code: string) =>
    JSON.stringify({ status, code, title: code, detail: code, type: code });

  test('after 503 and 429, as Retry-After says, with the same request id', async () => {
    const bodies: string[] = [];
    const { url } = await server((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        bodies.push(body);
        if (bodies.length === 1)
          response.writeHead(503, { 'content-type': 'application/problem+json' }).end(problem(503, 'database_busy'));
        else if (bodies.length === 2)
          response
            .writeHead(429, { 'content-type': 'application/problem+json', 'retry-after': '1' })
            .end(problem(429, 'rate_limited'));
        else response.writeHead(202, { 'content-type': 'application/json' }).end('{"id":"run_1","thread_id":"t"}');
      });
    });
    const run = await createClient({ url, ...quick }).runs.enqueue({ agent: 'a', input: 'x', threadId: 't' });
    expect(run).toMatchObject({ id: 'run_1', threadId: 't' });
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies).size).toBe(1);
    expect(JSON.parse(bodies[0]!)).toMatchObject({ request_id: expect.stringMatching(/^req_/) });
  });

  test('at most maxRetries times; not where the server wants it much later, and not after 4xx', async () => {
    let status = 503;
    let retryAfter = '0';
    const { url, requests } = await server((_, response) =>
      response
        .writeHead(status, { 'content-type': 'application/problem+json', 'retry-after': retryAfter })
        .end(problem(status, 'x')),
    );
    const client = createClient({ url, ...quick });
    const count = async (work: () => Promise<unknown>) => {
      requests.length = 0;
      await errorOf(work());
      return requests.length;
    };
    expect(await count(() => client.threads.get('t'))).toBe(3);
    // may be carried out twice
    expect(await count(() => client.events.send('e'))).toBe(1);
    retryAfter = '3600';
    expect(await count(() => client.threads.get('t'))).toBe(1);
    retryAfter = new Date(Date.now() + 3_600_000).toUTCString();
    expect(await count(() => client.threads.get('t'))).toBe(1);
    [status, retryAfter] = [409, '0'];
    expect(await count(() => client.threads.get('t'))).toBe(1);
  });

  test('after a connection that was lost before the answer arrived: one run, one entry, one thread', async () => {
    const cut = [40, 40, 40, 40, undefined];
    const proxy = await cuttingProxy(api.url, () => cut.shift());
    closing.push(() => proxy.close());
    const client = createClient({ url: proxy.url, apiKey: 'root', maxRetries: 5, retryDelayMs: 1 });
    const { id } = await client.threads.create({ metadata: { once: true } });
    const run = await client.runs.enqueue({ agent: 'calc', input: 'x', threadId: id });
    await client.runs.wait(run);
    await client.threads.append(id, [{ message: { role: 'user', content: 'kept once' } }]);
    expect(proxy.cuts()).toBe(4);
    expect((await client.threads.list({ metadata: { once: true } })).data).toHaveLength(1);
    expect((await client.runs.list({ threadId: id })).data).toHaveLength(1);
  });

  test('not once its signal aborts', async () => {
    const { url, requests } = await server((_, response) => void response.writeHead(503).end());
    const left = new AbortController();
    const reason = new Error('left');
    const asked = createClient({ url, maxRetries: 5, retryDelayMs: 60_000 }).threads.get('t', { signal: left.signal });
    await expect.poll(() => requests.length).toBe(1);
    left.abort(reason);
    await expect(asked).rejects.toBe(reason);
    await expect(createClient({ url }).threads.get('t', { signal: left.signal })).rejects.toBe(reason);
    expect(requests).toHaveLength(1);
  });

  test('where no answer comes in time', async () => {
    const { url } = await server(() => {});
    let sent = 0;
    const counted: typeof fetch = (...request) => {
      sent += 1;
      return fetch(...request);
    };
    const error = await errorOf(createClient({ url, timeoutMs: 20, fetch: counted, ...quick }).threads.get('t'));
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining('20 ms') });
    expect(sent).toBe(3);
  });
});

test('a live answer continues across cuts, with every character once', async () => {
  const words = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ');
  const model = `scripted:${JSON.stringify([words])}?latency_ms=2`;
  let length = 700;
  const proxy = await cuttingProxy(api.url, () => (length += 150));
  closing.push(() => proxy.close());
  const client = createClient({ url: api.url, apiKey: 'root' });
  const run = await client.runs.enqueue({ agent: 'calc', model, input: 'x' });
  let text = '';
  const events: number[] = [];
  for await (const item of createClient({
    url: proxy.url,
    apiKey: 'root',
    maxRetries: 1_000,
    retryDelayMs: 0,
  }).runs.stream(run)) {
    if (item.type === 'event') events.push(item.event.eventSeq);
    else if (item.type === 'llm_snapshot') text = item.text;
    else if (item.type === 'llm_delta' && 'text' in item) {
      expect(item.offset).toBe(text.length);
      text += item.text;
    }
  }
  expect(text).toBe(words);
  expect(events).toEqual((await client.runs.events(run)).data.map(({ eventSeq }) => eventSeq));
  expect(proxy.cuts()).toBeGreaterThan(0);
});

test('the key is sent as a bearer token', async () => {
  const { url, requests } = await server((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  );
  await createClient({ url: `${url}/`, apiKey: 'k' }).threads.get('t');
  expect(requests[0]!.headers).toMatchObject(bearer('k'));
});

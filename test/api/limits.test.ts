// @module-tag slow
import http from 'node:http';
import net from 'node:net';
import { createLanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasMoreValues } from '../../src/base/common/json-bytes.ts';
import { until } from '../support/until.ts';
import { caller, problem, startApi, type Api } from './helpers.ts';

const mib = 1024 * 1024;

describe('the limits of a server', () => {
  let api: Api;
  const open: net.Socket[] = [];
  beforeAll(async () => {
    const server = { bodyTimeoutMs: 1_000, maxHeldBytes: 2 * mib, maxStreams: 2 };
    api = await startApi({ worker: false, server });
    for (const id of ['l', 'room']) await api.call('POST', '/v1/threads', { id });
  });
  afterAll(async () => {
    for (const socket of open) socket.destroy();
    await api?.close();
  });

  test('idle connections outlast those of load balancers', async () => {
    const agent = new http.Agent({ keepAlive: true });
    const { headers } = await new Promise<http.IncomingMessage>((resolve, reject) => {
      http.get(`${api.url}/healthz`, { agent }, (answer) => resolve(answer.resume())).on('error', reject);
    });
    agent.destroy();
    expect(headers['keep-alive']).toBe('timeout=620');
  });

  /** A request whose body never ends. */
  const unfinished = (path: string, sent = 0, { port } = api.server) => {
    const socket = net.connect(port, '127.0.0.1');
    open.push(socket);
    let said = '';
    socket.setEncoding('utf8').on('data', (text: string) => (said += text));
    socket.on('error', () => {});
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${4 * mib}\r\n\r\n`;
    socket.write(head + ' '.repeat(sent));
    return {
      socket,
      said: () => said,
      answer: () => until(`an answer to ${path}`, () => /^HTTP\/1.1 (\d+)/.exec(said)?.[1] && said),
    };
  };

  test('a body that no route wants is not read: the path is unknown at once', async () => {
    const answers = Array.from({ length: 100 }, () => unfinished('/nowhere', 100_000).answer());
    for (const said of await Promise.all(answers)) expect(said).toMatch(/^HTTP\/1.1 404 [\s\S]*"not_found"/);
    expect(await unfinished('/v1/nowhere', 100_000).answer()).toMatch(/^HTTP\/1.1 404 /);
    expect(await unfinished('/healthz').answer()).toMatch(/^HTTP\/1.1 405 /);
  });

  test('a body that does not arrive in time is given up', async () => {
    expect(await unfinished('/v1/threads').answer()).toMatch(/^HTTP\/1.1 408 [\s\S]*"body_timeout"/);
  });

  const large = { entries: [{ kind: 'note', payload: { text: 'x'.repeat(mib) } }] };

  test('the room of bodies that do not arrive in time comes back', async () => {
    const slow = Array.from({ length: 15 }, () => unfinished('/v1/threads', 60_000).answer());
    for (const said of await Promise.all(slow)) expect(said).toMatch(/^HTTP\/1.1 408 /);
    expect((await api.call('POST', '/v1/threads/room/entries', large)).status).toBe(201);
  });

  test('bodies of all requests together are bounded', async () => {
    const other = await createLanefold({ ...api.lanefold.options });
    const server = await other.startServer({
      port: 0,
      onError: () => {},
      bodyTimeoutMs: 600_000,
      maxHeldBytes: 2 * mib,
    });
    const slow = Array.from({ length: 60 }, () => unfinished('/v1/threads', 60_000, server));
    const refused = () => slow.filter(({ said }) => said() !== '');
    await until('more than 10 requests are refused', () => refused().length > 10);
    for (const { answer } of refused())
      expect(await answer()).toMatch(/^HTTP\/1.1 503 [\s\S]*retry-after: 1[\s\S]*"server_busy"/i);
    expect(slow.length - refused().length).toBeGreaterThan(10);
    for (const { socket } of slow) socket.destroy();
    const call = caller(server.url);
    await until(
      'there is room again',
      async () => (await call('POST', '/v1/threads/room/entries', large)).status === 201,
    );
    await other.close();
  });

  test('a body of too many values is refused before it is parsed', async () => {
    const keys = Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`).join(',');
    const refused = await api.call('POST', '/v1/threads', `{"metadata":{${keys}}}`);
    expect(refused).toMatchObject(problem(400, 'invalid_request'));
    expect(refused.text).toContain('more than 50000 values');
  });

  test('a page of entries ends after 4 MiB, and the next one continues', async () => {
    for (let i = 0; i < 7; i++)
      await api.call('POST', '/v1/threads/l/entries', { entries: [{ kind: 'note', payload: { x: 'x'.repeat(mib) } }] });
    const seqs: number[][] = [];
    for (let after: number | null = -1; after !== null;) {
      const { body } = await api.call('GET', `/v1/threads/l/entries?limit=1000&after=${after}`);
      const page = body as { data: { seq: number }[]; next_after: number | null };
      seqs.push(page.data.map((entry) => entry.seq));
      after = page.next_after;
    }
    expect(seqs).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6],
    ]);
  });

  test('streams are bounded together', async () => {
    const left = new AbortController();
    const stream = () =>
      fetch(`${api.url}/v1/threads/l/events`, { headers: { accept: 'text/event-stream' }, signal: left.signal });
    const first = [await stream(), await stream()];
    expect(first.map((answer) => answer.status)).toEqual([200, 200]);
    const third = await stream();
    expect([third.status, third.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await third.json()).toMatchObject({ code: 'server_busy' });
    left.abort();
    await until('there is room again', async () => {
      const own = new AbortController();
      const headers = { accept: 'text/event-stream' };
      const again = await fetch(`${api.url}/v1/threads/l/events`, { headers, signal: own.signal });
      own.abort();
      return again.status === 200;
    });
  });

  test('streams that are refused are a line for each key in the log', async () => {
    const lines: { facts: Record<string, unknown>; message: string }[] = [];
    const error = (facts: Record<string, unknown>, message: string) => void lines.push({ facts, message });
    const logger = { error, warn: error, info: error, debug: error };
    const other = await createLanefold({ ...api.lanefold.options, logger });
    const { url } = await other.startServer({ port: 0, apiKey: 'root', maxStreams: 0 });
    const { id, key } = await api.lanefold.keys.create({ name: 'reader', scopes: ['read'] });
    for (const auth of [key, 'root', key, 'root', key]) {
      const headers = { accept: 'text/event-stream', authorization: `Bearer ${auth}` };
      expect((await fetch(`${url}/v1/threads/l/events`, { headers })).status).toBe(503);
    }
    await other.close();
    const first = lines.filter(({ message }) => message.includes('it serves 0 streams'));
    expect(first.map(({ facts }) => facts['actor'])).toEqual([`key:${id}`, 'operator']);
  });

  test('the largest cursor is an empty page', async () => {
    const run = await api.call('POST', '/v1/threads/l/runs', { agent: 'calc', input: 'x' });
    const cursor = 9_007_199_254_740_991;
    for (const path of [
      `/v1/threads/l/entries?after=${cursor}`,
      `/v1/threads/l/events?after=${cursor}`,
      `${run.headers.get('location')}/events?after=${cursor}`,
    ])
      expect([path, await api.call('GET', path)]).toMatchObject([path, { status: 200, body: { data: [] } }]);
    expect((await api.call('GET', `/v1/threads/l/contexts/default?at_seq=${cursor}`)).status).toBe(200);
  });

  test('every response says what browsers may do with it', async () => {
    for (const path of [
      '/v1/threads/l',
      '/v1/none',
      '/docs',
      '/admin/queues',
      '/healthz',
      '/admin/queues/static/%00',
    ]) {
      const { headers } = await api.call('GET', path);
      expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).not.toBeNull();
      expect(headers.has('strict-transport-security')).toBe(false);
      expect(headers.get('content-security-policy')).toMatch(/^(sandbox; default-src 'none'|default-src 'self')/);
    }
  });

  test('paths of Bull Board that no file can have are not found', async () => {
    for (const path of ['%00', '..%2f..%2fpackage.json', `${'a'.repeat(3_000)}`, '%ff'])
      expect(await api.call('GET', `/admin/queues/static/${path}`)).toMatchObject(problem(404, 'not_found'));
  });
});

test.each([
  ['{"a":[1,2,{"b":3}]}', false],
  ['"a,b,c,d,e,f,g,h,[[[[[[["', false],
  ['"a\\",b,c,d,e,f,g,h,i,j"', false],
  ['"a\\\\",1,2,3,4,5,6,7,8', true],
  ['[1,2,3,4,5,6,7,8]', true],
  ['[[[[[[[[', true],
  ['"open [[[[[[[[', false],
])('%s has more than 8 values: %s', (text, more) => expect(hasMoreValues(Buffer.from(text), 8)).toBe(more));

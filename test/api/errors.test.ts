import http from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { until } from '../support/until.ts';
import { caller, problem, startApi, type Api } from './helpers.ts';

const maxBodyBytes = 20_000;

let api: Api;
beforeAll(async () => {
  api = await startApi({ worker: false, server: { maxBodyBytes } });
  await api.call('POST', '/v1/threads', { id: 't' });
});
afterAll(() => api?.close());

describe('bad requests', () => {
  test.each([
    ['cut off', '{"id":'],
    ['not JSON at all', 'id=7'],
    ['of two values', '{} {}'],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('with a body that is %s are invalid_json', async (_, body) => {
    const answer = await api.call('POST', '/v1/threads', body);
    expect(answer).toMatchObject(problem(400, 'invalid_json'));
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });

  test.each<[string, Record<string, string>]>([
    ['text', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['another charset', { 'content-type': 'application/json; charset=utf-16' }],
    ['compressed', { 'content-encoding': 'gzip' }],
  ])('declared as %s are unsupported_media_type', async (_, headers) => {
    expect(await api.call('POST', '/v1/threads', '{}', headers)).toMatchObject(problem(415, 'unsupported_media_type'));
  });

  test('over the size limit are rejected, even without a declared length', async () => {
    const large = { id: 'large', metadata: { a: 'x'.repeat(maxBodyBytes) } };
    expect(await api.call('POST', '/v1/threads', large)).toMatchObject(problem(413, 'body_too_large'));
    const chunked = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
      const request = http.request(`${api.url}/v1/threads`, { method: 'POST', headers }, resolve);
      request.on('error', reject);
      request.write('{"metadata": {"a": "');
      for (let i = 0; i < 30; i++) request.write('x'.repeat(1_000));
      request.end('"}}');
    });
    chunked.resume();
    expect(chunked.statusCode).toBe(413);
    const within = { id: 'within', metadata: { a: 'x'.repeat(maxBodyBytes - 100) } };
    expect((await api.call('POST', '/v1/threads', within)).status).toBe(201);
  });

  test('over the size limit leave their connection open, unless the rest of the body never comes', async () => {
    const { hostname: host, port } = new URL(api.url);
    const connect = () => {
      const socket = net.connect(Number(port), host);
      onTestFinished(() => void socket.destroy());
      let told = '';
      socket.on('data', (bytes: Buffer) => (told += bytes.toString()));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const answered = (status: number) => until(`${status}`, () => told.includes(`HTTP/1.1 ${status} `));
      return { socket, closed, answered };
    };
    const head = `POST /v1/threads HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n`;
    const whole = connect();
    whole.socket.write(head + 'x'.repeat(200_000));
    await whole.answered(413);
    // it is refused later, so it is cut off after any connection that was refused before
    const partial = connect();
    partial.socket.write(head + 'x'.repeat(100_000));
    await partial.answered(413);
    await partial.closed;
    whole.socket.write(`GET /v1/threads/t HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await whole.answered(200);
  });

  test('with unknown fields get an error for each', async () => {
    expect(await api.call('POST', '/v1/threads', { id: 'x', colour: 1, size: 2 })).toMatchObject({
      ...problem(400, 'invalid_request'),
      body: { errors: [{ path: 'colour' }, { path: 'size' }] },
    });
    expect(await api.call('GET', '/v1/threads/t/entries?after_sequence=3')).toMatchObject({
      ...problem(400, 'invalid_request'),
      body: { errors: [{ path: 'after_sequence' }] },
    });
    expect(await api.call('POST', '/v1/threads', [])).toMatchObject(problem(400, 'invalid_request'));
    expect(await api.call('POST', '/v1/threads', 'null')).toMatchObject(problem(400, 'invalid_request'));
  });

  test.each<[string, string, object | undefined, string, string]>([
    ['POST', '/v1/threads/t/runs', { agent: 'echo', input: 'a', createThread: true }, 'createThread', 'create_thread'],
    [
      'POST',
      '/v1/threads/t/runs',
      { agent: 'echo', input: 'a', settings: { temprature: 1 } },
      'settings.temprature',
      'temperature',
    ],
    ['PUT', '/v1/webhooks/w', { url: 'https://1.1.1.1/', typs: [] }, 'typs', 'types'],
    ['GET', '/v1/runs?staus=failed', undefined, 'staus', 'status'],
  ])('%s %s names the field that an unknown one was meant to be', async (method, path, body, field, meant) => {
    expect(await api.call(method, path, body)).toMatchObject({
      ...problem(400, 'invalid_request'),
      body: { errors: [{ path: field, message: `Unknown field. Did you mean ${meant}?` }] },
    });
  });

  test.each([
    'limit=0',
    'limit=1001',
    'limit=',
    'limit=1e2',
    'limit=0x10',
    'limit=5&limit=6',
    'after=-2',
    'after=9007199254740993',
    'kind=%00',
  ])('with the query %s are invalid_request', async (query) => {
    expect(await api.call('GET', `/v1/threads/t/entries?${query}`)).toMatchObject(problem(400, 'invalid_request'));
  });

  test('with unstorable text or excessive depth are rejected', async () => {
    expect(await api.call('POST', '/v1/threads', '{"metadata":{"a":"\\u0000"}}')).toMatchObject(
      problem(400, 'invalid_text'),
    );
    expect(await api.call('POST', '/v1/threads', '{"system_prompt":"\\ud800"}')).toMatchObject(
      problem(400, 'invalid_text'),
    );
    const deep = `{"metadata":${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}}`;
    expect(await api.call('POST', '/v1/threads', deep)).toMatchObject(problem(400, 'invalid_request'));
    expect(await api.call('POST', '/v1/threads', '{"metadata":{"a":1e999}}')).toMatchObject(
      problem(400, 'invalid_request'),
    );
  });

  test.each(['a%20b', '.hidden', '%2e%2e%2fetc', '%00', '%zz', 'x'.repeat(129), '%F0%9F%A6%86'])(
    'with the id %s get invalid_id',
    async (id) => {
      expect(await api.call('GET', `/v1/threads/${id}`)).toMatchObject(problem(400, 'invalid_id'));
      expect(await api.call('GET', `/v1/threads/t/runs/${id}`)).toMatchObject(problem(400, 'invalid_id'));
      expect(await api.call('GET', `/v1/threads/t/contexts/${id}`)).toMatchObject(problem(400, 'invalid_id'));
    },
  );

  test('for a missing path or method get 404 or 405', async () => {
    for (const path of ['/nothing', '/v1', '/v1/threads/t/', '/v2/threads', '/v1/threads/t/nothing']) {
      expect(await api.call('GET', path)).toMatchObject(problem(404, 'not_found'));
    }
    const answer = await api.call('DELETE', '/v1/threads/t/config');
    expect(answer).toMatchObject(problem(405, 'method_not_allowed'));
    expect(answer.headers.get('allow')).toBe('GET, HEAD, PATCH');
    expect((await api.call('HEAD', '/v1/threads/t')).status).toBe(200);
  });
});

describe('server errors', () => {
  test('hide their details from the caller and report them to the operator', async () => {
    const seen: unknown[] = [];
    const { url } = await api.lanefold.startServer({ port: 0, onError: (error) => seen.push(error) });
    const call = caller(url);
    const { pool } = api.lanefold.database;
    onTestFinished(async () => {
      await pool.query('drop function if exists lanefold.create_thread(text, jsonb)');
      await pool.query('alter function lanefold.gone(text, jsonb) rename to create_thread');
    });
    await pool.query('alter function lanefold.create_thread(text, jsonb) rename to gone');
    const unavailable = await call('POST', '/v1/threads', {});
    expect(unavailable).toMatchObject(problem(503, 'database_outdated'));
    await pool.query(
      `create function lanefold.create_thread(p_thread_id text, p jsonb) returns jsonb language plpgsql as $$ begin raise 'secret particulars'; end $$`,
    );
    const failed = await call('POST', '/v1/threads', {});
    expect(failed).toMatchObject(problem(503, 'database_error'));
    expect(failed.text + unavailable.text).not.toMatch(/secret|create_thread/);
    expect(seen.map(String)).toEqual([
      expect.stringContaining('create_thread'),
      expect.stringContaining('secret particulars'),
    ]);
  });
});

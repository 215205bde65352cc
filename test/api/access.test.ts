// @module-tag slow
import http from 'node:http';
import { createLanefold, isLanefoldError } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { bearer, caller, problem, startApi, type Api } from './helpers.ts';

const basic = (user: string, key: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`,
});

/** Of a Lanefold whose server needs no key. */
let api: Api;
beforeAll(async () => {
  api = await startApi({ worker: false });
});
afterAll(() => api?.close());

describe('a server with a key', () => {
  let url: string;
  let call: Api['call'];
  beforeAll(async () => {
    ({ url } = await api.lanefold.startServer({ port: 0, apiKey: 'k:ey', onError: () => {} }));
    call = caller(url);
  });

  const status = async (path: string, headers = {}) => (await call('GET', path, undefined, headers)).status;

  test('requires it as a Bearer token for the API and the metrics', async () => {
    for (const path of ['/v1/threads/t', '/v1/nothing', '/metrics']) {
      const without = await call('GET', path);
      expect(without).toMatchObject(problem(401, 'unauthorized'));
      expect(without.headers.get('www-authenticate')).toMatch(/^Bearer /);
      for (const wrong of [
        bearer('wrong'),
        bearer(''),
        bearer('k:ey2'),
        basic('me', 'k:ey'),
        { authorization: 'k:ey' },
      ]) {
        expect(await status(path, wrong)).toBe(401);
      }
    }
    expect(await status('/v1/threads/t', bearer('k:ey'))).toBe(404);
    expect(await status('/metrics', bearer('k:ey'))).toBe(200);
  });

  test('accepts it as the password of any user on pages for browsers', async () => {
    for (const path of [
      '/admin/queues',
      '/admin/queues/static/favicon.ico',
      '/admin/queues/api/queues',
      '/docs',
      '/docs/reference.js',
      '/openapi.json',
    ]) {
      const without = await call('GET', path);
      expect(without).toMatchObject(problem(401, 'unauthorized'));
      expect(without.headers.get('www-authenticate')).toMatch(/^Basic /);
      expect(await status(path, basic('me', 'wrong'))).toBe(401);
      expect(await status(path, basic('anybody', 'k:ey'))).toBe(200);
      expect(await status(path, bearer('k:ey'))).toBe(200);
    }
  });

  test('needs no key for the probes only', async () => {
    expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 200]);
  });

  test('rejects requests of other sites from a signed-in browser', async () => {
    const pause = (headers: Record<string, string>) =>
      call('PUT', '/admin/queues/api/queues/pause', {}, { ...basic('me', 'k:ey'), ...headers });
    expect(await pause({ origin: 'https://evil.example' })).toMatchObject(problem(403, 'forbidden_origin'));
    expect((await pause({ origin: url })).status).toBe(200);
  });
});

describe('a server without a key', () => {
  const asked = (host: string) =>
    new Promise<number>((resolve, reject) => {
      const request = http.get(`${api.url}/v1/threads/t`, { headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode!);
      });
      request.on('error', reject);
    });

  test('answers only to loopback host names', async () => {
    for (const host of ['localhost', '127.0.0.1:4100', '[::1]:80', 'lanefold.localhost'])
      expect(await asked(host)).toBe(404);
    for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:80', '10.0.0.1']) {
      expect(await asked(host)).toBe(403);
    }
  });

  test('rejects requests of other sites', async () => {
    const post = (headers: Record<string, string>) => api.call('POST', '/v1/threads', {}, headers);
    const refused = problem(403, 'forbidden_origin');
    expect(await post({ origin: 'https://evil.example' })).toMatchObject(refused);
    expect(await post({ origin: 'null' })).toMatchObject(refused);
    expect((await post({ origin: api.url })).status).toBe(201);
    const answer = await post({});
    expect(answer.status).toBe(201);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('starting a server', () => {
  const failure = (options: object) =>
    api.lanefold.startServer({ port: 0, ...options }).catch((error: unknown) => error);

  test('on a public address requires a key', async () => {
    for (const host of ['0.0.0.0', '::', 'example.com']) {
      const error = await failure({ host });
      expect(isLanefoldError(error, 'missing_api_key')).toBe(true);
      expect(error).toMatchObject({ hint: expect.stringContaining('LANEFOLD_API_KEY') });
    }
    const open = await api.lanefold.startServer({ host: '0.0.0.0', port: 0, apiKey: 'k' });
    expect((await caller(`http://127.0.0.1:${open.port}`)('GET', '/v1/threads/t')).status).toBe(401);
    await open.close();
  });

  test('on a taken port fails, or uses the next free one', async () => {
    const { port } = api.server;
    expect(await failure({ port })).toMatchObject({
      code: 'port_taken',
      hint: expect.stringContaining('LANEFOLD_PORT'),
    });
    const next = await api.lanefold.startServer({ port, nextFreePort: true });
    expect(next.port).toBeGreaterThan(port);
    expect((await caller(next.url)('GET', '/healthz')).status).toBe(200);
    await next.close();
    // an address for documentation, which no machine has
    expect(await failure({ host: '203.0.113.7', port: 0, apiKey: 'k' })).toMatchObject({ code: 'listen_failed' });
  });

  test('stops with its Lanefold, or earlier', async () => {
    const server = await api.lanefold.startServer({ port: 0 });
    await server.close();
    await server.close();
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });

  test('stops with a Lanefold that is closed during the start', async () => {
    const own = await createLanefold(api.lanefold.options);
    const starting = own.startServer({ port: 0 });
    await own.close();
    await expect(fetch(`${(await starting).url}/healthz`)).rejects.toThrow();
  });
});

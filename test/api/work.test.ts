import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineAgent, defineTool } from 'lanefold';
import { z } from 'zod';
import { deferred, until } from '../support/until.ts';
import { startApi, type Api } from './helpers.ts';

const secret = (letter: string) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;
const [old, current] = [secret('a'), secret('b')];

describe('POST /v1/work', () => {
  let api: Api;
  const gate = deferred();
  beforeAll(async () => {
    const think = defineTool({ name: 'think', input: z.object({}), execute: () => gate.promise });
    const slow = `scripted:${JSON.stringify([{ tool: 'think', args: {} }, 'done'])}`;
    api = await startApi({
      agents: [
        defineAgent({ name: 'echo', model: 'scripted:echo' }),
        defineAgent({ name: 'slow', model: slow, tools: [think] }),
      ],
      worker: false,
      server: { apiKey: 'operator', workSecrets: [old, current] },
    });
  });
  afterAll(() => api?.close());

  const post = async (path: string, body: string, headers: Record<string, string>) => {
    const response = await fetch(`${api.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const signed = (body: string, { by = current, at = new Date(), id = randomUUID() as string } = {}) => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign(id, at, body),
  });
  const done = { status: 200, body: { ended: expect.any(Number) as number, released: 0, idle: true } };

  test('works for a request that any of the secrets has signed, and for the operator', async () => {
    const run = await api.lanefold.runs.enqueue({ agent: 'echo', input: 'go' });
    const body = '{"max_seconds":30,"concurrency":2}';
    expect(await post('/v1/work', body, signed(body))).toEqual({
      status: 200,
      body: { ended: 1, released: 0, idle: true },
    });
    expect((await api.lanefold.runs.get(run)).status).toBe('completed');
    expect(await post('/v1/work', '', signed('', { by: old }))).toEqual(done);
    expect(await post('/v1/work', '{}', { authorization: 'Bearer operator' })).toEqual(done);
  });

  test.each<[what: string, body: string, headers: () => Record<string, string>]>([
    ['no signature', '{}', () => ({})],
    ['a signature by another secret', '{}', () => signed('{}', { by: secret('c') })],
    ['a signature of another body', '{"max_seconds":3600}', () => signed('{"max_seconds":1}')],
    ['an old signature', '{}', () => signed('{}', { at: new Date(Date.now() - 600_000) })],
    ['a signature of the future', '{}', () => signed('{}', { at: new Date(Date.now() + 600_000) })],
    ['a signature without its time', '{}', () => ({ 'webhook-signature': signed('{}')['webhook-signature'] })],
    ['a signature that is none', '{}', () => ({ ...signed('{}'), 'webhook-signature': 'v1,' })],
  ])('refuses %s', async (_, body, headers) => {
    expect(await post('/v1/work', body, headers())).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
  });

  test('a signature allows nothing else', async () => {
    const body = '{"agent":"echo","input":"go"}';
    expect(await post('/v1/runs', body, signed(body))).toMatchObject({ status: 401 });
    expect(await post('/v1/work', '{"max":1}', signed('{"max":1}'))).toMatchObject({
      status: expect.any(Number) as number,
    });
    const large = JSON.stringify({ max_seconds: 1, more: 'x'.repeat(2_000) });
    expect(await post('/v1/work', large, signed(large))).toMatchObject({ status: 413 });
  });

  test('a key needs the scope admin, and sees all threads', async () => {
    const { keys } = api.lanefold;
    const runner = await keys.create({ name: 'runner', scopes: ['read', 'run', 'steer', 'approve'] });
    const bound = await keys.create({ name: 'acme', scopes: ['admin'], tenant: 'acme' });
    const admin = await keys.create({ name: 'admin', scopes: ['admin'] });
    const as = (key: string) => post('/v1/work', '{}', { authorization: `Bearer ${key}` });
    expect(await as(runner.key)).toMatchObject({ status: 403 });
    expect(await as(bound.key)).toMatchObject({ status: 403 });
    expect(await as(admin.key)).toEqual(done);
  });

  test('one request at a time', async () => {
    const run = await api.lanefold.runs.enqueue({ agent: 'slow', input: 'go' });
    const first = post('/v1/work', '{}', signed('{}'));
    await until('it runs', async () => (await api.lanefold.runs.get(run)).status === 'running');
    expect(await post('/v1/work', '{}', signed('{}'))).toMatchObject({ status: 503, body: { code: 'server_busy' } });
    gate.resolve();
    expect(await first).toEqual({ status: 200, body: { ended: 1, released: 0, idle: true } });
  });

  test.each(['whsec_c2hvcnQ=', 'nothing', '', `whsec_${'?a'.repeat(40)}`])('the secret %j is refused', async (weak) => {
    await expect(api.lanefold.startServer({ port: 0, workSecrets: [weak] })).rejects.toMatchObject({
      code: 'invalid_input',
      details: { field: 'workSecrets' },
    });
  });
});

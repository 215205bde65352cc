import { createLanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { until } from '../support/until.ts';
import { caller, problem, startApi, type Api } from './helpers.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi({ tokenSecrets: ['secret'] });
});
afterAll(() => api?.close());

describe('checkpoint tokens over HTTP', () => {
  const start = async (thread: string, body = {}) => {
    const run = await api.call('POST', `/v1/threads/${thread}/runs`, {
      agent: 'calc',
      input: 'hello',
      create_thread: true,
      ...body,
    });
    return { id: run.body['id'] as string, path: run.headers.get('location')! };
  };
  const ended = (path: string) =>
    until(`${path} has ended`, async () => {
      const { body } = await api.call('GET', path);
      return body['finished_at'] ? (body as Record<string, unknown>) : undefined;
    });
  const mint = async (path: string, body = {}) =>
    (await api.call('POST', `${path}/checkpoint`, body)).body as { token: string };
  const post = (what: string, body: object, headers = {}) => api.call('POST', `/v1/runs/${what}`, body, headers);

  test('return the result of a run and start a follow-up run', async () => {
    const { id, path } = await start('c-1');
    const run = await ended(path);
    const minted = await api.call('POST', `${path}/checkpoint`, { expires_in_ms: 60_000 });
    expect(minted).toMatchObject({
      status: 200,
      body: {
        token: expect.stringMatching(/^rt2\./),
        thread_id: 'c-1',
        run_id: id,
        step: run['step'],
        expires_at: expect.any(String),
      },
    });
    const { token } = minted.body as { token: string };
    expect((await mint(path)) as object).toMatchObject({ expires_at: expect.any(String) });
    expect(await post('resume', { token })).toMatchObject({
      status: 200,
      body: { id, result: 'hello', resumed_from: null },
    });
    expect(await post('collect', { token })).toMatchObject({ status: 200, body: { id, status: 'completed' } });

    const next = await post('resume', { token, query: 'more' }, { 'Idempotency-Key': 'more-1' });
    // a follow-up that starts at once may have ended before the answer
    expect(next.status).toBe(next.body['finished_at'] === null ? 202 : 200);
    expect(next.body).toMatchObject({ thread_id: 'c-1', request_id: 'more-1', resumed_from: id });
    const followUp = `/v1/threads/c-1/runs/${next.body['id']}`;
    expect(next.headers.get('location')).toBe(next.status === 202 ? followUp : null);
    expect(await ended(followUp)).toMatchObject({ result: 'more', resumed_from: id });
    const again = await post('resume', { token, query: 'more', request_id: 'more-1' });
    expect(again).toMatchObject({ status: 200, body: { id: next.body['id'], result: 'more' } });
  });

  test('of an active run report its status, cancel it, and are stale afterwards', async () => {
    const { path } = await start('c-2', { model: 'scripted:["x"]?latency_ms=600000' });
    await until('the run is at work', async () => (await api.call('GET', path)).body['status'] === 'running');
    const { token } = await mint(path);
    expect(await post('resume', { token })).toMatchObject(problem(409, 'run_active'));
    expect(await post('collect', { token })).toMatchObject({ status: 200, body: { status: 'running', result: null } });
    expect(await post('cancel', { token, reason: 'enough' })).toMatchObject({
      status: 200,
      body: { thread_id: 'c-2', accepted: true },
    });
    expect(await ended(path)).toMatchObject({ status: 'cancelled', error: { message: 'enough' } });
    expect(await post('resume', { token })).toMatchObject(problem(409, 'token_stale'));
    expect(await post('resume', { token, query: 'rise' })).toMatchObject(problem(409, 'token_stale'));
    expect(await api.call('POST', `${path}/checkpoint`, {})).toMatchObject(problem(409, 'token_stale'));
    expect((await post('cancel', { token })).body).toMatchObject({ status: 'cancelled', accepted: false });
  });

  test('that are invalid are rejected with the code of the failed check', async () => {
    const { path } = await start('c-3');
    const { token } = await mint(path);
    const [, payload, signature] = token.split('.') as [string, string, string];
    for (const what of ['resume', 'collect', 'cancel']) {
      expect(await post(what, { token: `rt1.${payload}.${signature}` })).toMatchObject(
        problem(400, 'invalid_token_prefix'),
      );
      expect(await post(what, { token: `rt2.${payload}` })).toMatchObject(problem(400, 'invalid_token_format'));
      expect(await post(what, { token: `${token}=` })).toMatchObject(problem(400, 'invalid_base64'));
      expect(await post(what, { token: `rt2.${payload}A.${signature}` })).toMatchObject({ status: 400 });
      const other = Buffer.from(Buffer.from(payload, 'base64url').toString().replace('c-3', 'c-1')).toString(
        'base64url',
      );
      expect(await post(what, { token: `rt2.${other}.${signature}` })).toMatchObject(
        problem(400, 'invalid_token_signature'),
      );
      expect(await post(what, {})).toMatchObject(problem(400, 'invalid_request'));
    }
    expect(await api.call('POST', `${path}/checkpoint`, { expires_in_ms: 0 })).toMatchObject(
      problem(400, 'invalid_request'),
    );
    expect(await api.call('POST', '/v1/threads/c-3/runs/nobody/checkpoint', {})).toMatchObject(
      problem(404, 'run_not_found'),
    );
    await ended(path);
  });
});

describe('without a secret', () => {
  test('creating a token names the variable to set', async () => {
    const other = await createLanefold({ ...api.lanefold.options, tokenSecrets: [''] });
    try {
      const call = caller((await other.startServer({ port: 0, onError: () => {} })).url);
      const run = await call('POST', '/v1/threads/t/runs', { agent: 'calc', input: 'x', create_thread: true });
      const answer = await call('POST', `${run.headers.get('location')}/checkpoint`, {});
      expect(answer).toMatchObject(problem(422, 'missing_token_secret'));
      expect(answer.body['hint']).toContain('LANEFOLD_TOKEN_SECRET');
    } finally {
      await other.close();
    }
  });
});

// @module-tag slow
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, mintKey, problem, startApi, type Api } from '../api/helpers.ts';
import { callCli } from '../cli/call-cli.ts';

describe('monitors from outside', () => {
  let api: Api;
  const root = bearer('root');
  beforeAll(async () => {
    api = await startApi({
      agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })],
      server: { apiKey: 'root' },
    });
  });
  afterAll(() => api?.close());
  const call = (method: string, path: string, body?: unknown, auth = root) =>
    api.call(method, `/v1/monitors${path}`, body, auth);

  test('are set, shown, changed and removed over HTTP', async () => {
    const definition = { agents: ['echo'], sample: 0.5, scorers: ['short'], alert: { below: 0.8 } };
    const set = await call('PUT', '/short', definition);
    expect(set).toMatchObject({
      status: 200,
      body: {
        name: 'short',
        tenant: 'default',
        ...definition,
        alert: { below: 0.8, of: 50 },
        scored: 0,
        low_since: null,
      },
    });
    expect((await call('GET', '/short')).body).toEqual(set.body);
    expect((await call('GET', '')).body).toEqual({ data: [set.body] });
    expect((await call('GET', '/short/scores')).body).toEqual({ data: [], next_after: null });
    expect((await call('PUT', '/short', definition)).body, 'setting it to what it is').toEqual(set.body);
    const { created_at: created, read_to: readTo } = set.body as Record<string, string>;
    const changed = await call('PUT', '/short', { scorers: ['short', 'polite'] });
    expect(changed.body).toMatchObject({ agents: [], sample: 0.1, scorers: ['polite', 'short'], alert: null });
    expect(changed.body).toMatchObject({ created_at: created });
    expect((changed.body as { read_to: string }).read_to > readTo!).toBe(true);
    expect((await call('DELETE', '/short')).status).toBe(204);
    for (const [method, path] of [
      ['GET', '/short'],
      ['GET', '/short/scores'],
      ['DELETE', '/short'],
    ] as const)
      expect(await call(method, path)).toMatchObject(problem(404, 'monitor_not_found'));
  });

  test.each([
    [{}, 'scorers'],
    [{ scorers: ['short'], sample: 2 }, 'sample'],
    [{ rubric: 'Is polite.' }, 'judge'],
  ])('%j is refused, and %s named', async (definition, field) => {
    const refused = await call('PUT', '/bad', definition);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain(field);
    expect((await call('GET', '/bad')).status).toBe(404);
  });

  test('of another tenant are not there', async () => {
    await call('PUT', '/shared-name', { scorers: ['short'] });
    const { auth } = await mintKey(api.call, root, { scopes: ['admin', 'read'], tenant: 'acme' });
    expect((await call('GET', '', undefined, auth)).body).toEqual({ data: [] });
    expect(await call('GET', '/shared-name', undefined, auth)).toMatchObject(problem(404, 'monitor_not_found'));
    await call('PUT', '/shared-name', { scorers: ['polite'] }, auth);
    expect((await call('GET', '/shared-name')).body).toMatchObject({ tenant: 'default', scorers: ['short'] });
    await call('DELETE', '/shared-name');
    expect((await call('GET', '', undefined, auth)).body).toMatchObject({ data: [{ tenant: 'acme' }] });
  });

  test('are managed on the command line', async () => {
    const run = (...args: string[]) =>
      callCli(['monitors', ...args], { env: { DATABASE_URL: api.lanefold.databaseUrl } });
    const judged = ['--rubric', 'Is polite.', '--judge', 'echo', '--alert-below', '0.8', '--sample', '1'];
    expect((await run('set', 'polite', ...judged)).stdout).toBe(
      'polite is set; workers score 100 % of the runs that end from now on\n',
    );
    expect((await run()).stdout).toMatch(/^polite +default +all +100 %/m);
    expect(JSON.parse((await run('scores', 'polite', '--json')).stdout)).toEqual({ data: [], next_after: null });
    const refused = await run('set', 'polite', '--scorers', 'short', '--alert-of', '5');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--alert-of needs --alert-below')]);
    expect((await run('remove', 'polite')).stdout).toBe('polite is removed\n');
    expect(await run('remove', 'polite')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not exist') as string,
    });
  });
});

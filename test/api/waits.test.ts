// @module-tag slow
import { agentTool, defineAgent, defineTool, waitFor, type Lanefold, type RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { bearer, mintKey, problem, startApi, type Api } from './helpers.ts';

const tools = [
  defineTool({ name: 'await_event', input: z.object({ event: z.string() }), execute: ({ event }) => waitFor(event) }),
  defineTool({ name: 'pay', input: z.object({}), needsApproval: true, execute: () => 'paid' }),
];
const payer = defineAgent({ name: 'payer', model: 'scripted:[{"tool":"pay"},"settled"]', tools });
const lead = defineAgent({ name: 'lead', model: 'scripted:echo', tools: [...tools, agentTool(payer)] });
const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;

describe('waits over HTTP', () => {
  let api: Api;
  const root = bearer('root');
  const keys = {} as Record<'steer' | 'reader' | 'bound' | 'acme' | 'bolt', Awaited<ReturnType<typeof mintKey>>>;
  beforeAll(async () => {
    api = await startApi({ server: { apiKey: 'root' }, agents: [lead, payer] });
    const mint = (fields: object) => mintKey(api.call, root, fields);
    keys.steer = await mint({ scopes: ['steer'] });
    keys.reader = await mint({ scopes: ['read'] });
    keys.bound = await mint({ scopes: ['read', 'steer'], thread_prefix: 'desk-' });
    keys.acme = await mint({ scopes: ['read', 'steer'], tenant: 'acme' });
    keys.bolt = await mint({ scopes: ['read', 'steer'], tenant: 'bolt' });
  });
  afterAll(() => api?.close());

  const get = async <T>(path: string, auth = root) => (await api.call('GET', path, undefined, auth)).body as T;
  const at = (run: { threadId: string; id: string }) => `/v1/threads/${run.threadId}/runs/${run.id}`;
  const resolve = (run: RunHandle, call: string, body?: object, auth = root) =>
    api.call('POST', `${at(run)}/tool-calls/${call}/resolve`, body, auth);
  const waiting = (event: string, auth = root) =>
    get<{ data: Record<string, unknown>[]; next_after: string | null }>(`/v1/waits?event=${event}`, auth);

  /** A run whose calls wait for these events. */
  async function start(events: string[], { runs }: Pick<Lanefold, 'runs'> = api.lanefold): Promise<RunHandle> {
    const calls = events.map((event) => ({ tool: 'await_event', args: { event } }));
    const run = await runs.enqueue({ agent: 'lead', input: 'go', model: script({ tools: calls }) });
    await until('its calls wait', async () => {
      const { status, waits } = await runs.get(run);
      return status === 'suspended' && waits.length === events.length;
    });
    return run;
  }
  const script = (...turns: object[]) => `scripted:${JSON.stringify([...turns, 'done'])}`;
  const endsOf = async (run: RunHandle) => {
    const text = 'select status, ended_by from lanefold.run_wait where run_id = $1 order by call_index';
    const { rows } = await api.lanefold.database.pool.query<{ status: string; ended_by: string | null }>(text, [
      run.id,
    ]);
    return rows.map(({ status, ended_by: by }) => [status, by]);
  };

  test('are listed page by page, with the run that shows them, and resolved once with a result or an error', async () => {
    const run = await start(['one', 'two']);
    const wait = {
      call: '1.0',
      round: 1,
      index: 0,
      name: 'await_event',
      kind: 'event',
      event: 'one',
      run: null,
      since: iso,
    };
    expect(await waiting('one')).toEqual({
      data: [{ ...wait, until: null, thread_id: run.threadId, run_id: run.id }],
      next_after: null,
    });
    const first = await get<{ data: object[]; next_after: string }>('/v1/waits?kind=event&limit=1');
    expect(first.data).toMatchObject([{ event: 'one' }]);
    const rest = await get<object>(`/v1/waits?kind=event&limit=1&after=${encodeURIComponent(first.next_after)}`);
    expect(rest).toMatchObject({ data: [{ event: 'two', index: 1 }], next_after: null });
    expect(await get(at(run))).toMatchObject({
      waits: [wait, { ...wait, call: '1.1', index: 1, event: 'two' }],
      parent: null,
    });

    expect(await resolve(run, '1.0', { result: null, error: 'both' })).toMatchObject(problem(400, 'invalid_input'));
    expect(await resolve(run, '1.0', { result: { paid: true }, by: 'ada' })).toMatchObject({
      status: 200,
      body: { resolved: true, wait: 'overridden', status: 'suspended' },
    });
    expect((await resolve(run, '1.0', { result: 'again' })).body).toMatchObject({
      resolved: false,
      wait: 'overridden',
    });
    const { body } = await resolve(run, '1.1', { error: 'The order was cancelled' }, keys.steer.auth);
    expect(body).toMatchObject({ resolved: true, status: 'queued' });
    await api.lanefold.runs.wait(run);
    expect((await resolve(run, '1.1', {})).body).toEqual({ resolved: false, wait: 'overridden', status: 'completed' });
    expect((await ledgerOf(api.lanefold, run.threadId)).map(({ status, result }) => [status, result])).toEqual([
      ['ok', '{"paid":true}'],
      ['error', expect.stringContaining('The order was cancelled')],
    ]);
    expect(await endsOf(run)).toEqual([
      ['overridden', 'ada'],
      ['overridden', `key:${keys.steer.id}`],
    ]);
    const audit = await api.lanefold.audit.list({ threadId: run.threadId });
    expect(audit.map(({ action, actor, runId }) => [action, actor, runId])).toContainEqual([
      'resolveWait',
      `key:${keys.steer.id}`,
      run.id,
    ]);
    expect(await waiting('one')).toEqual({ data: [], next_after: null });
  });

  test('that make no sense are refused', async () => {
    const run = await start(['three']);
    for (const [call, body, status, code] of [
      ['1.7', {}, 404, 'tool_call_not_found'],
      ['first', {}, 400, 'invalid_id'],
      ['1.0', { error: '' }, 400, 'invalid_request'],
      ['1.0', { outcome: 1 }, 400, 'invalid_request'],
      ['1.0', { result: 'x'.repeat(300_000) }, 400, 'invalid_input'],
    ] as const)
      expect(await resolve(run, call, body)).toMatchObject(problem(status, code));
    expect(await resolve({ ...run, id: 'none' }, '1.0')).toMatchObject(problem(404, 'run_not_found'));
    for (const query of ['event=two%20words', 'kind=approval', 'limit=0', 'after=x', 'colour=red'])
      expect((await api.call('GET', `/v1/waits?${query}`, undefined, root)).status).toBe(400);
    expect(await resolve(run, '1.0', { result: 'kept simple' })).toMatchObject({ status: 200 });
  });

  test('need a key with the scope, and belong to the tenant of the key', async () => {
    const run = await start(['four'], api.lanefold.forTenant('acme'));
    expect(await api.call('GET', '/v1/waits')).toMatchObject(problem(401, 'unauthorized'));
    const list = (auth: Record<string, string>) => api.call('GET', '/v1/waits', undefined, auth);
    expect(await list(keys.steer.auth)).toMatchObject(problem(403, 'forbidden'));
    expect(await list(keys.bound.auth)).toMatchObject(problem(403, 'forbidden'));
    for (const name of ['reader', 'bound'] as const)
      expect(await resolve(run, '1.0', {}, keys[name].auth)).toMatchObject(problem(403, 'forbidden'));
    expect((await waiting('four', keys.bolt.auth)).data).toEqual([]);
    expect((await resolve(run, '1.0', {}, keys.bolt.auth)).status).toBe(404);
    expect((await api.call('GET', `${at(run)}/tree`, undefined, keys.bolt.auth)).status).toBe(404);
    expect((await waiting('four', keys.acme.auth)).data).toHaveLength(1);
    expect(await resolve(run, '1.0', { by: 'ada' }, keys.acme.auth)).toMatchObject({ body: { resolved: true } });
    expect(await endsOf(run)).toEqual([['overridden', `ada (key:${keys.acme.id})`]]);
  });

  test('for the run of another agent are in the tree, whose root the approvals name', async () => {
    const model = script({ tool: 'ask_payer', args: { task: 'Settle it.' } });
    const run = await api.lanefold.runs.enqueue({ agent: 'lead', input: 'go', model });
    const root = { thread_id: run.threadId, id: run.id };
    const approval = await until('the approval', async () =>
      (await get<{ data: Record<string, string>[] }>('/v1/approvals')).data.find(({ agent }) => agent === 'payer'),
    );
    expect(approval).toMatchObject({ name: 'pay', root });
    const child = { thread_id: approval['thread_id'], id: approval['run_id'] };
    const childPath = `/v1/threads/${child.thread_id}/runs/${child.id}`;
    const tree = await get<object>(`${childPath}/tree`);
    expect(tree).toMatchObject({
      root,
      runs: [
        { ...root, agent: 'lead', depth: 0, parent: null, status: 'suspended', waits: [{ kind: 'run', run: child }] },
        { ...child, agent: 'payer', depth: 1, parent: { ...root, round: 1, index: 0 }, waits: [{ kind: 'approval' }] },
      ],
      usage: { input_tokens: expect.any(Number) as number },
      cost: null,
      unpriced_tokens: expect.any(Number) as number,
    });
    expect(await get(`${at(run)}/tree`)).toEqual(tree);
    expect(await get(childPath)).toMatchObject({ parent: root });
    expect(await get(at(run))).toMatchObject({ parent: null, waits: [{ kind: 'run', event: null, run: child }] });
    expect(await api.call('GET', `${at({ ...run, id: 'none' })}/tree`, undefined, bearer('root'))).toMatchObject(
      problem(404, 'run_not_found'),
    );
    await resolve(run, '1.0', { result: 'settled by hand' });
    expect(await api.lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    const ended = await api.lanefold.runs.wait({ threadId: child.thread_id!, id: child.id! });
    expect(ended.status).toBe('cancelled');
  });
});

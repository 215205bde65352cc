import { createLanefold, defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { caller, problem, startApi, type Api } from './helpers.ts';

describe('overrides of callers over HTTP', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({
      worker: false,
      scriptedModels: false,
      aliases: { fast: 'scripted:echo' },
      agents: [
        defineAgent({ name: 'closed', model: 'scripted:echo', toolContext: { tenant: 'acme' } }),
        defineAgent({
          name: 'open',
          model: 'scripted:echo',
          maxIterations: 5,
          maxTotalTokens: 1_000,
          toolTimeoutMs: 1_000,
          idleTimeoutMs: 2_000,
          settings: { maxOutputTokens: 100 },
          overridable: {
            http: [
              'model',
              'settings',
              'maxIterations',
              'maxTotalTokens',
              'maxDurationMs',
              'idleTimeoutMs',
              'toolTimeoutMs',
              'headers',
              'providerOptions',
              'contextPolicy',
            ],
          },
        }),
        defineAgent({ name: 'strict', model: 'scripted:echo', overridable: [] }),
        defineAgent({
          name: 'unlimited',
          model: 'scripted:echo',
          overridable: { http: ['strategy', 'maxIterations', 'maxDurationMs'] },
        }),
      ],
    });
  });
  afterAll(() => api?.close());

  let n = 0;
  const send = (agent: string, overrides: object) =>
    api.call('POST', `/v1/threads/o-${++n}/runs`, { agent, input: 'x', create_thread: true, ...overrides });
  const refused = (...paths: string[]) => ({
    ...problem(403, 'override_not_allowed'),
    body: expect.objectContaining({
      code: 'override_not_allowed',
      errors: paths.map((path) => ({ path, message: expect.any(String) })),
      hint: expect.any(String),
    }),
  });

  test.each([
    [{ model: 'scripted:[{"tool":"pay","args":{"to":"me"}}]' }, 'model'],
    [{ strategy: 'cot' }, 'strategy'],
    [{ strategy_options: { max_depth: 1 } }, 'strategy_options'],
    [{ max_total_tokens: 1 }, 'max_total_tokens'],
    [{ max_duration_ms: 1 }, 'max_duration_ms'],
    [{ max_cost: 1 }, 'max_cost'],
    [{ tools: ['extra'] }, 'tools'],
    [{ allowed_tools: [] }, 'allowed_tools'],
    [{ tool_context: { tenant: 'other' } }, 'tool_context.tenant'],
    [{ settings: { temperature: 1 } }, 'settings'],
    [{ settings: { headers: { 'x-a': '1' } } }, 'headers'],
    [{ headers: { 'x-a': '1' } }, 'headers'],
    [{ settings: { provider_options: { openai: { user: 'u' } } } }, 'provider_options'],
    [{ request_transformer: 'x' }, 'request_transformer'],
    [{ context_policy: 'short_context' }, 'context_policy'],
    [{ max_iterations: 1 }, 'max_iterations'],
    [{ streaming: false }, 'streaming'],
    [{ idle_timeout_ms: 1 }, 'idle_timeout_ms'],
    [{ tool_timeout_ms: 1 }, 'tool_timeout_ms'],
    [{ output: 'raw' }, 'output'],
  ])('%j is refused unless the agent lists it, and nothing is written', async (overrides, path) => {
    expect(await send('closed', overrides)).toMatchObject(refused(path));
    expect(await api.call('GET', `/v1/threads/o-${n}`)).toMatchObject(problem(404, 'thread_not_found'));
  });

  test('limits can be lowered, never raised', async () => {
    const lower = {
      max_iterations: 5,
      max_total_tokens: 1_000,
      max_duration_ms: 1_000,
      tool_timeout_ms: 500,
      idle_timeout_ms: 2_000,
      settings: { max_output_tokens: 9 },
    };
    expect((await send('open', lower)).status).toBe(202);
    expect(await send('open', { max_iterations: 6 })).toMatchObject(refused('max_iterations'));
    expect(await send('open', { max_total_tokens: 1_001 })).toMatchObject(refused('max_total_tokens'));
    expect(await send('open', { tool_timeout_ms: 1_001 })).toMatchObject(refused('tool_timeout_ms'));
    expect(await send('open', { idle_timeout_ms: 0 })).toMatchObject(refused('idle_timeout_ms'));
    const tokens = { settings: { max_output_tokens: 101 } };
    expect(await send('open', tokens)).toMatchObject(refused('settings.max_output_tokens'));
    expect(await send('open', { max_iterations: 1_000_000 })).toMatchObject(problem(400, 'invalid_request'));
  });

  test('an agent without limits has those of the strategy', async () => {
    expect(await send('unlimited', { max_iterations: 11 })).toMatchObject(refused('max_iterations'));
    expect((await send('unlimited', { strategy: 'tot', max_iterations: 200 })).status).toBe(202);
    expect(await send('unlimited', { strategy: 'tot', max_iterations: 201 })).toMatchObject(refused('max_iterations'));
    const tree = { strategy: 'adaptive', input: 'Combine the views.' };
    expect((await send('unlimited', { ...tree, max_iterations: 200 })).status).toBe(202);
    expect(await send('unlimited', { ...tree, max_iterations: 201 })).toMatchObject(refused('max_iterations'));
    expect(await send('unlimited', { strategy: 'none' })).toMatchObject(problem(422, 'unknown_strategy'));
    expect((await send('unlimited', { max_duration_ms: 60_000 })).status).toBe(202);
  });

  test('a script is refused where the model may be chosen, but not what the operator named', async () => {
    expect(await send('open', { model: 'scripted:["x"]' })).toMatchObject(refused('model'));
    expect((await send('open', { model: 'fast' })).status).toBe(202);
    expect((await send('open', { model: 'scripted:echo' })).status).toBe(202);
  });

  test('a policy cannot bring a prompt where prompts are not listed', async () => {
    expect((await send('open', { context_policy: { max_messages: 4 } })).status).toBe(202);
    expect(await send('open', { context_policy: { system_prompt: 'Obey.' } })).toMatchObject(refused('system_prompt'));
  });

  test('headers cannot replace credentials or the host', async () => {
    for (const name of ['Authorization', 'x-api-key', 'X-Goog-Api-Key', 'Host', 'Cookie', 'Transfer-Encoding']) {
      expect(await send('open', { headers: { [name]: 'v' } })).toMatchObject(problem(400, 'invalid_input'));
      expect(await send('open', { settings: { headers: { [name]: 'v' } } })).toMatchObject(
        problem(400, 'invalid_input'),
      );
    }
    expect((await send('open', { headers: { 'x-trace': 'v' } })).status).toBe(202);
  });

  test('provider options cannot change what is sent', async () => {
    for (const option of [
      'model',
      'models',
      'messages',
      'tools',
      'instructions',
      'previousResponseId',
      'stream_options',
    ])
      expect(await send('open', { settings: { provider_options: { any: { [option]: 'x' } } } })).toMatchObject(
        problem(400, 'invalid_input'),
      );
  });

  test('the configuration of a thread needs a listing of every agent', async () => {
    expect(await api.call('POST', '/v1/threads', { id: 'conf', system_prompt: 'Obey.' })).toMatchObject(
      refused('system_prompt'),
    );
    expect((await api.call('POST', '/v1/threads', { id: 'conf', metadata: { a: 1 } })).status).toBe(201);
    const patch = (change: object) => api.call('PATCH', '/v1/threads/conf/config', change);
    expect(await patch({ system_prompt: null })).toMatchObject(refused('system_prompt'));
    expect(await patch({ tool_context: { tenant: 'x' } })).toMatchObject(refused('tool_context.tenant'));
    expect(await patch({ register_tools: ['extra'] })).toMatchObject(refused('tools'));
    expect(await patch({ context_policy: 'short_context' })).toMatchObject(refused('context_policy'));
    const replace = (result_context: object) =>
      api.call('POST', '/v1/threads/conf/context-operations', {
        context_ref: 'default',
        operation: { type: 'replace', result_context },
      });
    expect(await replace({ entries: [], system_prompt: 'Obey.' })).toMatchObject(refused('system_prompt'));
    expect((await replace({ entries: [] })).status).toBe(200);
  });

  test('a server without agents allows no change of a configuration', async () => {
    const other = await createLanefold({ ...api.lanefold.options, agents: [] });
    const call = caller((await other.startServer({ port: 0, onError: () => {} })).url);
    expect(await call('POST', '/v1/threads', { system_prompt: 'x' })).toMatchObject(refused('system_prompt'));
    await other.close();
  });

  test('the library may override everything, unless the agent lists what', async () => {
    const enqueue = (agent: string) =>
      api.lanefold.runs.enqueue({ agent, input: 'x', maxIterations: 50, model: 'scripted:["x"]' });
    expect(await enqueue('closed')).toMatchObject({ duplicate: false });
    await expect(enqueue('strict')).rejects.toMatchObject({ code: 'override_not_allowed' });
  });
});

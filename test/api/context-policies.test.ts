import { policyForModel, type Projection } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cli } from '../cli/cli.ts';
import { noRedis } from '../support/lanefold.ts';
import { problem, startApi, type Api } from './helpers.ts';

const text = 'x'.repeat(360); // 100 tokens by the heuristic
const policy = { max_input_tokens: 300, reserve_output_tokens: 0, keep_last_turns: 1, token_estimator: 'heuristic' };
const look = { id: 'c', name: 'look', arguments: {} };

/** What `policy` makes of the thread: its first turn goes, with the tool group in it. */
const expected = [
  ['system', 'system', 'system_prompt', true],
  ['user', 'message', 'budget', false],
  ['assistant', 'tool_group', 'budget', false],
  ['tool', 'tool_group', 'budget', false],
  ['assistant', 'message', 'before_question', false],
  ['user', 'message', 'question', true],
];
const rowsOf = ({ explain }: Pick<Projection, 'explain'>) =>
  explain!.map(({ role, kind, reason, included }) => [role, kind, reason, included]);

describe.skipIf(noRedis())('what a policy makes of a context, and why', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({});
    await api.lanefold.threads.create({ id: 'long', systemPrompt: 'Help.' });
    await api.lanefold.threads.append('long', [
      { message: { role: 'user', content: text } },
      { message: { role: 'assistant', content: '', tool_calls: [look] } },
      { message: { role: 'tool', content: text, tool_call_id: 'c' } },
      { message: { role: 'assistant', content: text } },
      { message: { role: 'user', content: text } },
    ]);
  });
  afterAll(() => api?.close());
  const get = (query: Record<string, string>) =>
    api.call('GET', `/v1/threads/long/contexts/default?${new URLSearchParams(query).toString()}`);

  test('is the same from the library, over HTTP and on the command line', async () => {
    const { explain, meta, messages } = await api.lanefold.contexts.project('long', {
      policy: { maxInputTokens: 300, reserveOutputTokens: 0, keepLastTurns: 1, tokenEstimator: 'heuristic' },
      explain: true,
    });
    expect(rowsOf({ explain: explain! })).toEqual(expected);
    expect(explain!.map(({ tokens }) => tokens)).toEqual([11, 100, 10, 100, 100, 100]);
    expect(meta).toEqual({
      ...{ estimated_tokens: 111, tool_tokens: 0, budget: 300, truncated: true, over_budget: false },
      ...{ entries_included: 1, entries_total: 5, summary_used: false, window: null },
      estimator: { name: 'heuristic', ratio: 1, error: null, calls: null, fallback: null },
    });
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);

    const { body } = await get({ policy: JSON.stringify(policy), explain: 'true' });
    expect(body).toMatchObject({ meta, explain: JSON.parse(JSON.stringify(explain)) });

    const { code, stdout } = await cli(['context', 'long', '--policy', JSON.stringify(policy), '--explain', '--json'], {
      env: { DATABASE_URL: api.lanefold.database.url },
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ meta, explain: JSON.parse(JSON.stringify(explain)) });
  });

  test('presets go by name, and without one it is what the thread has', async () => {
    expect((await get({ policy: 'short_context', explain: 'true' })).body).toMatchObject({
      policy: { max_input_tokens: 6_000, keep_last_turns: 2 },
      meta: { budget: 4_000, truncated: false },
    });
    expect((await get({ explain: 'true' })).body).toMatchObject({ meta: { budget: null, entries_included: 5 } });
  });

  test('a limit leaves the newest messages, tool groups whole, with a policy and without', async () => {
    const roles = (body: unknown) => (body as { messages: { role: string }[] }).messages.map(({ role }) => role);
    const whole = ['user', 'assistant', 'tool', 'assistant', 'user'];
    expect(roles((await get({})).body)).toEqual(['system', ...whole]);
    expect(roles((await get({ limit: '4' })).body)).toEqual(['system', ...whole.slice(1)]);
    expect(roles((await get({ limit: '3' })).body)).toEqual(['system', ...whole.slice(3)]);
    expect(roles((await get({ limit: '2', policy: 'long_context' })).body)).toEqual(['system', ...whole.slice(3)]);
    expect(await get({ limit: '0' })).toMatchObject({ status: 400 });
  });

  test('an unusable policy is a problem, and so is a window nobody knows where one is demanded', async () => {
    expect(await get({ policy: 'huge' })).toMatchObject(problem(422, 'invalid_policy'));
    expect(await get({ policy: '{"max_input_tokens": 0}' })).toMatchObject(problem(422, 'invalid_policy'));
    expect(await get({ policy: '{' })).toMatchObject(problem(422, 'invalid_policy'));
    expect(await get({ policy: '{"max_input_tokens": "window"}', model: 'nobody:knows' })).toMatchObject({
      body: { code: 'unknown_window' },
    });
  });
});

test('a policy for a model has its window, from the table or from the caller', async () => {
  expect(await policyForModel('openai:gpt-4o')).toEqual({ maxInputTokens: 128_000, reserveOutputTokens: 16_000 });
  const contextWindows = { 'own:model': 8_000 };
  expect(await policyForModel('own:model', { contextWindows })).toMatchObject({ maxInputTokens: 8_000 });
  await expect(policyForModel('nobody:knows')).rejects.toMatchObject({ code: 'unknown_window' });
});

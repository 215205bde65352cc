import { policyForModel, type ContextProjection } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callCli } from '../cli/call-cli.ts';

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
  ['assistant', 'message', 'budget', false],
  ['user', 'message', 'question', true],
];
const rowsOf = ({ explain }: Pick<ContextProjection, 'explain'>) =>
  explain!.map(({ role, kind, reason, included }) => [role, kind, reason, included]);

describe('what a policy makes of a context, and why', () => {
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
      estimated_tokens: 111,
      tool_tokens: 0,
      budget: 300,
      truncated: true,
      over_budget: false,
      entries_included: 1,
      entries_total: 5,
      summary_used: false,
      window: null,
      estimator: { name: 'heuristic', ratio: 1, error: null, calls: null, fallback: null },
    });
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);

    const { body } = await get({ policy: JSON.stringify(policy), explain: 'true' });
    expect(body).toMatchObject({ meta, explain: JSON.parse(JSON.stringify(explain)) });

    const { code, stdout } = await callCli(
      ['context', 'long', '--policy', JSON.stringify(policy), '--explain', '--json'],
      {
        env: { DATABASE_URL: api.lanefold.database.url },
      },
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ meta, explain: JSON.parse(JSON.stringify(explain)) });
  });

  test('without the room that a cut leaves, where only the budget is of interest', async () => {
    // the answer before the question fits, and would begin the request
    const alone = expected.map((row) =>
      row[0] === 'assistant' && row[1] === 'message' ? [...row.slice(0, 2), 'before_question', false] : row,
    );
    const { body } = await get({ policy: JSON.stringify(policy), explain: 'true', full_budget: 'true' });
    expect(rowsOf(body)).toEqual(alone);
    const command = ['context', 'long', '--policy', JSON.stringify(policy), '--explain', '--full-budget', '--json'];
    const { stdout } = await callCli(command, { env: { DATABASE_URL: api.lanefold.database.url } });
    expect(rowsOf(JSON.parse(stdout) as ContextProjection)).toEqual(alone);
    expect(await get({ agent: 'nobody', explain: 'true' })).toMatchObject(problem(422, 'unknown_agent'));
    expect(await get({ explian: 'true' })).toMatchObject(problem(400, 'invalid_request'));
  });

  test('on the command line with the text of what is left out', async () => {
    const { stdout } = await callCli(['context', 'long', '--policy', JSON.stringify(policy), '--explain'], {
      env: { DATABASE_URL: api.lanefold.database.url },
    });
    const lines = stdout.trimEnd().split('\n').slice(2);
    expect(lines.map((line) => [line.includes(' - '), /x{40}|look/.test(line)])).toEqual([
      [false, false],
      [true, true],
      [true, true],
      [true, true],
      [true, true],
      [false, true],
    ]);
    const coloured = await callCli(['context', 'long', '--policy', JSON.stringify(policy), '--explain'], {
      env: { DATABASE_URL: api.lanefold.database.url, FORCE_COLOR: '1' },
    });
    // what is left out is dimmed, and nothing else
    const dimmed = coloured.stdout.trimEnd().split('\n').slice(2);
    expect(dimmed).toEqual(lines.map((line) => (line.includes(' - ') ? `\u001b[2m${line}\u001b[22m` : line)));
    expect(dimmed.filter((line) => line.startsWith('\u001b'))).toHaveLength(4);
  });

  test('is what any of its options asks for, by itself', async () => {
    const { project } = api.lanefold.contexts;
    await api.lanefold.threads.configure('long', {
      contextPolicy: { maxInputTokens: 300, reserveOutputTokens: 0, keepLastTurns: 1, tokenEstimator: 'heuristic' },
    });
    const shown = { meta: { entries_included: 1, entries_total: 5 } };
    expect(await project('long', { fullBudget: true })).toMatchObject(shown);
    expect(await project('long', { model: 'scripted:echo' })).toMatchObject(shown);
    expect(await project('long', { agent: 'calc' })).toMatchObject(shown);
    expect(await project('long', { fullBudget: false, explain: false } as object)).toHaveLength(6);
    for (const [name, value] of Object.entries({ full_budget: 'true', model: 'scripted:echo', agent: 'calc' })) {
      const { body } = await get({ [name]: value });
      expect(body).toMatchObject(shown);
      expect(body).not.toHaveProperty('explain');
    }
    expect((await get({ full_budget: 'false', explain: 'false' })).body).not.toHaveProperty('meta');
    const { stdout } = await callCli(['context', 'long', '--model', 'scripted:echo', '--json'], {
      env: { DATABASE_URL: api.lanefold.database.url },
    });
    expect(JSON.parse(stdout)).toMatchObject(shown);
    await api.lanefold.threads.configure('long', { contextPolicy: null });
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

  test('a lane is compacted over HTTP and from the command line', async () => {
    const { lanefold } = api;
    const script = `scripted:${JSON.stringify(['an answer '.repeat(40), 'In short.'])}`;
    const ask = { agent: 'calc', threadId: 'c', createThread: true };
    await lanefold.runs.wait(await lanefold.runs.enqueue({ ...ask, model: script, input: 'one' }));
    await lanefold.runs.wait(await lanefold.runs.enqueue({ ...ask, input: 'two' }));
    const path = '/v1/threads/c/compact';
    const answer = await api.call('POST', path, { keep_turns: 1, range: { from_seq: 0, to_seq: 1 } });
    expect(answer).toMatchObject({ status: 202, body: { thread_id: 'c', duplicate: false } });
    expect(answer.headers.get('location')).toMatch(/^\/v1\/threads\/c\/runs\/run_/);
    const { id } = answer.body as { id: string };
    const ended = await lanefold.runs.wait({ threadId: 'c', id });
    expect(['completed', 'failed']).toContain(ended.status);
    expect(ended).toMatchObject({ strategy: 'compaction', agent: 'calc' });
    expect(await api.call('POST', path, { range: { from_seq: 2, to_seq: 1 } })).toMatchObject(
      problem(400, 'invalid_input'),
    );
    expect(await api.call('POST', '/v1/threads/none/compact', {})).toMatchObject(problem(404, 'thread_not_found'));
    const env = { DATABASE_URL: lanefold.databaseUrl, REDIS_URL: '' };
    const again = await callCli(['compact', 'c', '--keep-turns', '9', '--json'], { env });
    expect(JSON.parse(again.stdout)).toMatchObject({ thread_id: 'c' });
    expect((await callCli(['compact', 'c', '--from', '1'], { env })).code).toBe(2);
  });
});

test('a policy for a model has its window, from the table or from the caller', async () => {
  expect(await policyForModel('openai:gpt-4o')).toEqual({ maxInputTokens: 128_000, reserveOutputTokens: 16_000 });
  const contextWindows = { 'own:model': 8_000 };
  expect(await policyForModel('own:model', { contextWindows })).toMatchObject({ maxInputTokens: 8_000 });
  await expect(policyForModel('nobody:knows')).rejects.toMatchObject({ code: 'unknown_window' });
});

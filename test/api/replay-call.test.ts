import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fakeModel } from '../support/fake-model.ts';
import { problem, startApi, type Api } from './helpers.ts';

describe('a recorded model call made again', () => {
  let api: Api;
  let runId: string;
  let looked = 0;
  const look = defineTool({
    name: 'look',
    input: z.object({}),
    execute: () => {
      looked += 1;
      return 'seen';
    },
  });
  const first = fakeModel((_, n) => (n % 2 === 0 ? { calls: [{ id: 'c', name: 'look' }] } : { text: 'Rain.' }));
  const second = fakeModel([{ text: 'Sun.', usage: [7, 3] }]);
  const broken = fakeModel(() => new Error('out of credit, Bearer abcdefgh'));
  const log = async () => (await api.lanefold.threads.get('t')).rev;
  const replay = (callId: string, body: object) => api.call('POST', `/v1/threads/t/calls/${callId}/replay`, body);

  beforeAll(async () => {
    const one = { instructions: 'Be brief.', tools: [look], model: 'first' };
    api = await startApi({
      models: { first, second, broken },
      agents: [
        defineAgent({ ...one, name: 'open', overridable: { http: ['model', 'systemPrompt', 'contextPolicy'] } }),
        defineAgent({ ...one, name: 'closed' }),
      ],
    });
    const run = await api.lanefold.runs.enqueue({
      agent: 'open',
      threadId: 't',
      createThread: true,
      input: 'Weather?',
    });
    runId = run.id;
    await api.lanefold.runs.wait(run);
  });
  afterAll(() => api?.close());

  test('sends the same messages to another model, runs no tool and writes nothing', async () => {
    const before = { rev: await log(), looked };
    const { status, body } = await replay(`${runId}.2`, { model: 'second' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      thread_id: 't',
      llm_call_id: `${runId}.2`,
      model: 'second',
      verified: true,
      error: null,
      answer: { content: 'Sun.' },
      usage: { input_tokens: 7, output_tokens: 3 },
      finish_reason: 'stop',
    });
    expect(second.calls.at(-1)!.prompt).toEqual(first.calls[1]!.prompt);
    expect(second.calls.at(-1)!.tools).toEqual(first.calls[1]!.tools);
    const asked = (await replay(`${runId}.1`, {})).body as { answer: { tool_calls: { name: string }[] } };
    expect(asked.answer.tool_calls[0]!.name).toBe('look');
    expect({ rev: await log(), looked }).toEqual(before);
  });

  test('takes another system prompt, or none', async () => {
    await replay(`${runId}.2`, { model: 'second', system_prompt: 'Be long.' });
    expect(second.calls.at(-1)!.prompt[0]).toMatchObject({ role: 'system', content: 'Be long.' });
    expect(second.calls.at(-1)!.prompt.slice(1)).toEqual(first.calls[1]!.prompt.slice(1));
    await replay(`${runId}.2`, { model: 'second', system_prompt: null });
    expect(second.calls.at(-1)!.prompt).toEqual(first.calls[1]!.prompt.slice(1));
  });

  test('cuts the context of the lane by another policy', async () => {
    const later = await api.lanefold.runs.enqueue({ agent: 'open', threadId: 't', input: 'And tomorrow?' });
    await api.lanefold.runs.wait(later);
    const policy = { keep_last_turns: 1, max_messages: 1 };
    const { body } = await replay(`${later.id}.1`, { model: 'second', context_policy: policy });
    expect(body).toMatchObject({ messages: 2, verified: true, error: null });
    expect(second.calls.at(-1)!.prompt).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ text: 'And tomorrow?' }] },
    ]);
    expect((await replay(`${later.id}.1`, { model: 'second' })).body).toMatchObject({ messages: 6 });
    const unknown = await replay(`${later.id}.1`, { context_policy: { projector: 'nobody' } });
    expect(unknown).toMatchObject(problem(422, 'invalid_policy'));
  });

  test('says why the model did not answer, without its secrets', async () => {
    const { status, body, text } = await replay(`${runId}.1`, { model: 'broken' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ answer: null, usage: null, error: { type: 'llm_request' } });
    expect(text).not.toContain('abcdefgh');
  });

  test('refuses what the agent does not list, and what is not there', async () => {
    const run = await api.lanefold.runs.enqueue({
      agent: 'closed',
      threadId: 'u',
      createThread: true,
      input: 'Weather?',
    });
    await api.lanefold.runs.wait(run);
    const at = `/v1/threads/u/calls/${run.id}.1/replay`;
    const made = second.calls.length;
    expect(await api.call('POST', at, { model: 'second' })).toMatchObject(problem(403, 'override_not_allowed'));
    expect(await api.call('POST', at, { context_policy: 'window' })).toMatchObject(
      problem(403, 'override_not_allowed'),
    );
    expect(await api.call('POST', at, { system_prompt: null })).toMatchObject(problem(403, 'override_not_allowed'));
    expect((await api.call('POST', at, { model: 'first' })).status).toBe(200);
    expect((await api.lanefold.contexts.replayCall('u', `${run.id}.1`, { model: 'second' })).answer).toBeTruthy();
    expect(second.calls.length).toBe(made + 1);
    expect(await replay(`${runId}.9`, {})).toMatchObject(problem(404, 'call_not_found'));
    expect(await replay(`${runId}.1`, { model: 'nobody:knows' })).toMatchObject(problem(422, 'unknown_model'));
    expect(await replay(`${runId}.1`, { modle: 'second' })).toMatchObject(problem(400, 'invalid_request'));
  });

  test('is for the agents of the key', async () => {
    const { key } = await api.lanefold.keys.create({ name: 'closed alone', scopes: ['run'], agents: ['closed'] });
    const answer = await api.call(
      'POST',
      `/v1/threads/t/calls/${runId}.2/replay`,
      {},
      { authorization: `Bearer ${key}` },
    );
    expect(answer).toMatchObject(problem(403, 'forbidden'));
  });

  test('ends with its caller', async () => {
    const gone = new AbortController();
    gone.abort(new Error('gone'));
    await expect(
      api.lanefold.contexts.replayCall('t', `${runId}.2`, { model: 'second', signal: gone.signal }),
    ).rejects.toThrow('gone');
  });
});

import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ModelCall } from '../../page/api/types.ts';
import { contextHash } from '../../src/agent/context/canonical.ts';
import type { Message } from '../../src/agent/context/message.ts';

import { problem, startApi, type Api } from './helpers.ts';

const twoTurns = `scripted:${JSON.stringify([{ tools: [{ tool: 'extra', args: {} }] }, 'done'])}`;

describe('the exact context of a model call', () => {
  let api: Api;
  const run = async (threadId: string, agent: string, model?: string) => {
    const run = await api.lanefold.runs.enqueue({
      agent,
      threadId,
      input: 'A question',
      createThread: true,
      ...(model ? { model } : {}),
    });
    await api.lanefold.runs.wait(run);
    return run.id;
  };
  const call = async (threadId: string, id: string) =>
    (await api.call('GET', `/v1/threads/${threadId}/calls/${id}`)).body as ModelCall;

  beforeAll(async () => {
    api = await startApi({
      agents: [
        defineAgent({ name: 'calc', model: 'scripted:echo', instructions: 'Be brief.' }),
        defineAgent({
          name: 'shaped',
          model: 'scripted:["{\\"sum\\": 3}"]',
          output: { schema: z.object({ sum: z.number() }) },
        }),
        defineAgent({
          name: 'changed',
          model: 'scripted:echo',
          requestTransformer: ({ messages }) => ({ messages: messages.slice(-1) }),
        }),
      ],
    });
  });
  afterAll(() => api?.close());

  test('is what the recorded hash was taken of, also after later entries', async () => {
    await api.lanefold.threads.create({ id: 't' });
    await api.lanefold.threads.configure('t', { registerTools: ['extra'] });
    const id = await run('t', 'calc', twoTurns);
    const first = await call('t', `${id}.1`);
    expect(first.messages.map((message) => [message.role, message.content])).toEqual([
      ['system', 'Be brief.'],
      ['user', 'A question'],
    ]);
    expect(first).toMatchObject({
      verified: true,
      unverified_because: null,
      previous_call_id: null,
      next_call_id: `${id}.2`,
    });
    expect(contextHash(first.messages as Message[])).toBe(first.context_hash);
    expect(first.tools!.map(({ name }) => name)).toEqual(['extra']);
    expect(first.usage!.total_tokens).toBeGreaterThan(0);
    expect(first.duration_ms).toBeGreaterThanOrEqual(0);

    await api.lanefold.threads.configure('t', { systemPrompt: 'Another prompt' });
    await api.lanefold.contexts.reset('t');
    const second = await call('t', `${id}.2`);
    expect(second.messages.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(second).toMatchObject({ verified: true, answer: { content: 'done' }, previous_call_id: `${id}.1` });
    expect(second.sources).toHaveLength(4);
  });

  test('includes the instructions of an output contract, which are never stored', async () => {
    const id = await run('s', 'shaped');
    const sent = await call('s', `${id}.1`);
    expect(sent).toMatchObject({ verified: true, sources: [null, expect.any(Number)] });
    expect(sent.messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining('sum') });
  });

  test('says so where a request transformer changed it', async () => {
    const id = await run('x', 'changed');
    await run('x', 'changed');
    const { data } = await api.lanefold.runs.list({ threadId: 'x', limit: 1 });
    expect(data[0]!.id).not.toBe(id);
    expect(await call('x', `${data[0]!.id}.1`)).toMatchObject({ verified: false, unverified_because: 'transformed' });
  });

  test('names the entry that broke the beginning which it would share with the call before', async () => {
    const { contexts, threads } = api.lanefold;
    const { id: thread } = await threads.create({ systemPrompt: 'Help.' });
    let asked = 0;
    const ask = async (policy?: object) => {
      const run = await api.lanefold.runs.enqueue({
        agent: 'calc',
        threadId: thread,
        input: `Question ${++asked}`,
        ...(policy ? { contextPolicy: policy } : {}),
      });
      await api.lanefold.runs.wait(run);
      return (await call(thread, `${run.id}.1`)).prefix_break;
    };
    const last = async () => (await threads.get(thread)).rev - 1;
    expect(await ask()).toBeNull();
    expect(await ask()).toBeNull();

    await threads.append(thread, [{ kind: 'note' }]);
    await threads.configure(thread, { systemPrompt: 'Help quickly.' });
    const prompt = await last();
    await threads.append(thread, [{ kind: 'note' }]);
    expect(await ask()).toEqual({ position: 0, seq: prompt, cause: 'prompt' });
    expect(await ask()).toBeNull();

    await contexts.replace(thread, { entries: [{ role: 'user', content: 'Something else' }] });
    const anchor = await last();
    expect(await ask()).toEqual({ position: 1, seq: anchor, cause: 'anchor' });
    await threads.configure(thread, { systemPrompt: 'Help slowly.' });
    const slowly = await last();
    await contexts.replace(thread, { entries: [{ role: 'user', content: 'Something else' }] });
    expect(await ask()).toEqual({ position: 0, seq: slowly, cause: 'prompt' });
    await contexts.reset(thread);
    const reset = await last();
    expect(await ask()).toEqual({ position: 1, seq: reset, cause: 'anchor' });

    expect(await ask()).toBeNull();
    expect(await ask({ maxMessages: 2, keepLastTurns: 1 })).toEqual({
      position: 1,
      seq: await last(),
      cause: 'policy',
    });
    // a prompt that says the same breaks nothing
    await threads.configure(thread, { systemPrompt: 'Help slowly.' });
    expect(await ask({ maxMessages: 2, keepLastTurns: 1 })).toMatchObject({ cause: 'policy' });
  });

  test('of a call that was never answered is call_not_found', async () => {
    expect(await api.call('GET', '/v1/threads/t/calls/run_x.1')).toMatchObject(problem(404, 'call_not_found'));
    expect(await api.call('GET', '/v1/threads/nowhere/calls/run_x.1')).toMatchObject(problem(404, 'thread_not_found'));
  });
});

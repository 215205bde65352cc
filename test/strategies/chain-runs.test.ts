import { defineAgent, defineTool, type EnqueueOptions } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { contextOf, entriesOf, eventsOf, expectSound } from '../support/log.ts';
import { deferred } from '../support/until.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'seen' });
const thought = '1. Two and two.\n2. Four.\nConclusion: It is 4.';

describe('the strategies cot and cod', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([
      defineAgent({ name: 'thinker', model: unset, strategy: 'cot' }),
      defineAgent({ name: 'drafter', model: unset, strategy: 'cod' }),
      defineAgent({ name: 'owl', model: unset, strategy: 'cot', instructions: 'Think like an owl.' }),
      defineAgent({ name: 'doer', model: unset, tools: [look] }),
      defineAgent({ name: 'former', model: unset, output: { schema: z.object({ a: z.string() }) } }),
    ]);
  });
  afterAll(() => lanefold?.close());

  test('call the model once; the conclusion is the result', async () => {
    const model = lanefold.model([{ text: thought }]);
    const { threadId, run } = await lanefold.run({ agent: 'thinker', model: model.id, input: '2+2?' });
    expect(run).toMatchObject({
      strategy: 'cot',
      status: 'completed',
      terminationReason: 'success',
      result: 'It is 4.',
    });
    expect(run).toMatchObject({ iteration: 1, step: 1, usage: { total_tokens: 15 } });
    expect(model.calls).toHaveLength(1);
    expect(await contextOf(lanefold, threadId)).toEqual([
      ['system', expect.stringContaining('step by step')],
      ['user', '2+2?'],
      ['assistant', thought],
    ]);
    expect((await eventsOf(lanefold, threadId)).map((event) => event.kind)).toEqual([
      'request_started',
      'llm_started',
      'llm_completed',
      'request_completed',
      'checkpoint',
    ]);
    await expectSound(lanefold, threadId);
  });

  test('return the whole answer if it has no conclusion', async () => {
    const model = lanefold.model([{ text: 'Just 4.' }]);
    expect((await lanefold.run({ agent: 'thinker', model: model.id, input: 'x' })).run.result).toBe('Just 4.');
  });

  test('log their own prompt unless the agent or the thread has one', async () => {
    const prompt = async (options: Partial<EnqueueOptions>) => {
      const model = lanefold.model([{ text: '#### ok' }]);
      const { threadId } = await lanefold.run({ agent: 'thinker', input: 'x', ...options, model: model.id });
      const [first] = await contextOf(lanefold, threadId);
      expect(model.calls[0]!.prompt[0]).toMatchObject({ role: 'system', content: first![1] });
      await expectSound(lanefold, threadId);
      return first![1];
    };
    expect(await prompt({ agent: 'drafter' })).toContain('minimal draft');
    expect(await prompt({ agent: 'owl' })).toBe('Think like an owl.');
    expect(await prompt({ agent: 'doer', strategy: 'cod' })).toContain('minimal draft');
    await lanefold.threads.create({ id: 'prompted', systemPrompt: 'Be mine.' });
    expect(await prompt({ threadId: 'prompted' })).toBe('Be mine.');
  });

  test('chosen for one request offer no tools, and do not affect the next run', async () => {
    const model = lanefold.model([{ text: '#### 4', calls: [{ name: 'look' }] }, { text: 'done' }]);
    const first = await lanefold.run({ agent: 'doer', strategy: 'cot', model: model.id, input: 'x' });
    expect(first.run).toMatchObject({ strategy: 'cot', result: '4' });
    expect(model.calls[0]).not.toHaveProperty('tools');
    const answers = (await entriesOf(lanefold, first.threadId)).filter((entry) => entry.role === 'assistant');
    expect(answers.map((entry) => 'tool_calls' in entry.payload)).toEqual([false]);
    const next = await lanefold.run({ agent: 'doer', model: model.id, input: 'y', threadId: first.threadId });
    expect(next.run).toMatchObject({ strategy: 'react', result: 'done' });
    expect(model.calls[1]!.tools).toHaveLength(1);
    expect((await contextOf(lanefold, first.threadId))[0]).toEqual(['user', 'x']);
    await expectSound(lanefold, first.threadId);
  });

  test('answer input that arrives during the call with another call, within the limit', async () => {
    for (const [maxIterations, reason, result] of [
      [2, 'success', 'five'],
      [1, 'max_iterations', null],
    ] as const) {
      const called = deferred();
      const answer = deferred();
      const model = lanefold.model(async (_, n) => {
        if (n === 1) return { text: '#### five' };
        called.resolve();
        await answer.promise;
        return { text: '#### four' };
      });
      const handle = await lanefold.runs.enqueue({ agent: 'thinker', model: model.id, input: '2+2?', maxIterations });
      await called.promise;
      await lanefold.runs.steer(handle.threadId, 'No, 2+3.');
      answer.resolve();
      expect(await lanefold.runs.wait(handle)).toMatchObject({
        status: 'completed',
        terminationReason: reason,
        result,
      });
      expect((await contextOf(lanefold, handle.threadId)).map(([role]) => role).slice(0, 4)).toEqual([
        'system',
        'user',
        'assistant',
        'user',
      ]);
      await expectSound(lanefold, handle.threadId);
    }
  });

  test('record retries, and fail on a blank answer that was cut off', async () => {
    const busy = Object.assign(new Error('busy'), {
      statusCode: 503,
      isRetryable: true,
      responseHeaders: { 'retry-after-ms': '1' },
    });
    const model = lanefold.model((_, n) => (n === 0 ? busy : { finishReason: 'length' }));
    const { threadId, run } = await lanefold.run({ agent: 'thinker', model: model.id, input: 'x' });
    expect(run).toMatchObject({ status: 'failed', error: { type: 'llm_response' } });
    expect((await eventsOf(lanefold, threadId)).map((event) => event.kind)).toContain('llm_retry');
  });

  test.each<[Partial<EnqueueOptions>, string]>([
    [{ strategy: 'magic' }, 'unknown_strategy'],
    [{ strategy: 'cot', tools: ['look'] }, 'invalid_input'],
    [{ strategy: 'cod', allowedTools: [] }, 'invalid_input'],
    [{ strategy: 'cot', output: { schema: z.object({ a: z.string() }) } }, 'invalid_output'],
    [{ strategy: 'cot', agent: 'former' }, 'invalid_output'],
  ])('%o is rejected', async (wrong, code) => {
    await expect(lanefold.runs.enqueue({ agent: 'doer', input: 'x', ...wrong })).rejects.toMatchObject({ code });
  });

  test('an agent cannot combine an output contract with a strategy that returns text', () => {
    const output = { schema: z.object({ a: z.string() }) };
    expect(() => defineAgent({ name: 'a', model: unset, strategy: 'cot', output })).toThrow(
      /cot does not support an output contract/,
    );
  });
});

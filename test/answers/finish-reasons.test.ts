// @module-tag slow
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { expectSound } from '../support/log.ts';
import { answerTools, call, executed, startAnswers, type AnswerRuntime } from './helpers.ts';

const sse = (body: string) => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });

describe('an answer', () => {
  let lanefold: AnswerRuntime;
  beforeAll(async () => {
    const common = { model: 'compatible', tools: answerTools, maxModelRetries: 2 };
    lanefold = await startAnswers([
      defineAgent({ name: 'a', ...common }),
      defineAgent({ name: 'brief', ...common, maxIterations: 3 }),
      defineAgent({ name: 'whole', ...common, streaming: false }),
    ]);
  });
  beforeEach(() => void (executed.length = 0));
  afterAll(() => lanefold?.close());

  test('that announces calls and has only a text is that text', async () => {
    const { run, sent, threadId } = await lanefold.ask([{ text: 'It is done.', finishReason: 'tool_calls' }]);
    expect(run).toMatchObject({ status: 'completed', terminationReason: 'final_answer', result: 'It is done.' });
    expect(sent).toHaveLength(1);
    await expectSound(lanefold, threadId);
  });

  test('that announces calls and has nothing is asked for again, which counts as an iteration', async () => {
    const { run, sent, threadId } = await lanefold.ask([{ finishReason: 'tool_calls' }, { text: 'Here.' }]);
    expect(run).toMatchObject({ status: 'completed', result: 'Here.', iteration: 2, finishReason: 'stop' });
    expect(sent).toHaveLength(2);
    await expectSound(lanefold, threadId);
  });

  test('that announces calls and has nothing, again and again, ends the run without an answer', async () => {
    const { run, sent } = await lanefold.ask(Array(3).fill({ finishReason: 'tool_calls' }), { agent: 'brief' });
    expect(run).toMatchObject({ status: 'completed', terminationReason: 'max_iterations', result: null });
    expect(run).toMatchObject({ finishReason: null, truncated: false });
    expect(sent).toHaveLength(3);
  });

  test('that ended with an error of the provider is asked for again, whatever it has', async () => {
    for (const half of [{}, { text: 'Half' }, { toolCalls: [call('clean', '{}')] }]) {
      const broken = { ...half, finishReason: 'MALFORMED_FUNCTION_CALL' };
      const { run } = await lanefold.ask([broken, { text: 'Whole.' }], { model: 'gemini' });
      expect(run).toMatchObject({ status: 'completed', result: 'Whole.' });
    }
    expect(executed).toEqual([]);
  });

  const started = {
    compatible: 'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n',
    claude:
      'data: {"type":"message_start","message":{"id":"m","model":"m","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
    gemini: 'data: {"candidates":[{"content":{"parts":[{"text":"Hel"}],"role":"model"},"index":0}]}\n\n',
  };

  test.each(Object.entries(started))(
    'of %s that has an event with cut JSON is asked for again',
    async (model, event) => {
      for (const before of ['', event]) {
        const { run, sent } = await lanefold.ask([sse(`${before}data: {"id":"c","ind\n\n`), { text: 'Hello' }], {
          model,
        });
        expect(run).toMatchObject({ status: 'completed', result: 'Hello' });
        expect(sent).toHaveLength(2);
      }
    },
  );

  test('that is one cut JSON document is asked for again', async () => {
    const cut = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"id":"c","choices":[{"ind' };
    const { run } = await lanefold.ask([cut, { text: 'Hello' }], { agent: 'whole' });
    expect(run).toMatchObject({ status: 'completed', result: 'Hello' });
  });
});

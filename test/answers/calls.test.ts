// @module-tag slow
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { entriesOf, eventsOf, expectSound, ledgerOf } from '../support/log.ts';
import { answerTools, call, executed, startAnswers, type AnswerRuntime } from './helpers.ts';

const failure = (result: string | null | undefined): { type: string; message: string } =>
  (JSON.parse(result ?? 'null') as { error: { type: string; message: string } }).error;

describe('a call that may not run', () => {
  let lanefold: AnswerRuntime;
  const guarded: unknown[] = [];
  beforeAll(async () => {
    const common = { model: 'compatible', tools: answerTools };
    lanefold = await startAnswers([
      defineAgent({ name: 'a', ...common }),
      defineAgent({ name: 'whole', ...common, streaming: false }),
      defineAgent({ name: 'guarded', ...common, guardTool: ({ arguments: args }) => void guarded.push(args) }),
      defineAgent({ name: 'limited', ...common, settings: { maxOutputTokens: 256 } }),
    ]);
  });
  beforeEach(() => void (executed.length = 0));
  afterAll(() => lanefold?.close());

  const wrong = [
    '{"folder": "/tmp/cache", "olderTh',
    '[]',
    '[5]',
    '"x"',
    'null',
    '17',
    'true',
    '<folder>/tmp</folder>',
    '{"olderThan": 1e999}',
  ];

  test.each(wrong)('with the arguments %s reads what was wrong, with the text it wrote', async (written) => {
    for (const agent of ['a', 'whole']) {
      const { threadId, run, sent } = await lanefold.ask(
        [{ toolCalls: [call('clean', written)] }, { text: 'Sorry.' }],
        { agent },
      );
      expect(run).toMatchObject({ status: 'completed', result: 'Sorry.' });
      expect(executed).toEqual([]);
      const [row] = await ledgerOf(lanefold, threadId);
      expect(row).toMatchObject({ status: 'error', attempts: 0 });
      expect(failure(row!.result)).toMatchObject({
        type: 'invalid_arguments',
        message: expect.stringContaining(written),
      });
      expect(sent[1].messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'call_1', content: row!.result });
      const answer = (await entriesOf(lanefold, threadId)).find(({ role }) => role === 'assistant');
      expect(answer?.payload['tool_calls']).toMatchObject([{ arguments_raw: written }]);
      expect((await eventsOf(lanefold, threadId)).map(({ kind }) => kind)).not.toContain('tool_started');
      await expectSound(lanefold, threadId);
    }
  });

  test('asks no person for an approval', async () => {
    const { run } = await lanefold.ask([{ toolCalls: [call('clean_approved', '{"fol')] }, { text: 'Sorry.' }]);
    expect(run).toMatchObject({ status: 'completed', result: 'Sorry.' });
    expect(executed).toEqual([]);
  });

  test('asks no guard', async () => {
    const replies = [{ toolCalls: [call('clean', '[]'), call('clean', '{"folder":"/a"}', 'call_2')] }, { text: 'Ok.' }];
    await lanefold.ask(replies, { agent: 'guarded' });
    expect(guarded).toEqual([{ folder: '/a' }]);
    expect(executed).toEqual(['clean {"folder":"/a"}']);
  });

  test('does not keep its siblings from running', async () => {
    const calls = [call('clean', '[]'), call('clean', '{"folder":"/a"}', 'call_2'), call('look', '', 'call_3')];
    const { threadId } = await lanefold.ask([{ toolCalls: calls }, { text: 'Ok.' }]);
    expect(executed.toSorted()).toEqual(['clean {"folder":"/a"}', 'look {}']);
    expect((await ledgerOf(lanefold, threadId)).map(({ status }) => status)).toEqual(['error', 'ok', 'ok']);
  });

  test('is one without arguments where its tool requires some', async () => {
    const { threadId } = await lanefold.ask([{ toolCalls: [call('clean_folder', '')] }, { text: 'Sorry.' }]);
    expect(executed).toEqual([]);
    expect(failure((await ledgerOf(lanefold, threadId))[0]!.result)).toEqual({
      type: 'invalid_arguments',
      retryable: false,
      message: expect.stringMatching(/requires folder/),
    });
  });

  test.each(['', ' \n'])('is not one without arguments (%j) where its tool requires none', async (written) => {
    const { run } = await lanefold.ask([{ toolCalls: [call('look', written)] }, { text: 'Seen.' }]);
    expect(run).toMatchObject({ status: 'completed', result: 'Seen.' });
    expect(executed).toEqual(['look {}']);
  });

  test('shows the model at most the ends of a long text', async () => {
    const written = `{"folder": "${'x'.repeat(20_000)}`;
    const { threadId } = await lanefold.ask([{ toolCalls: [call('clean', written)] }, { text: 'Sorry.' }]);
    const { message } = failure((await ledgerOf(lanefold, threadId))[0]!.result);
    expect(message.length).toBeLessThan(2_000);
    expect(message).toMatch(/\{"folder": "xx.+…/s);
  });

  test.each([
    ['length', { finishReason: 'length' }],
    ['content_filter', { finishReason: 'content_filter' }],
  ])('is any of an answer that ended with %s', async (_, end) => {
    const calls = [
      call('clean', '{"folder":"/a"}'),
      call('clean_once', '{}', 'call_2'),
      call('clean', '{"fo', 'call_3'),
    ];
    const { threadId, run } = await lanefold.ask([{ toolCalls: calls, ...end }, { text: 'Again.' }]);
    expect(run).toMatchObject({ status: 'completed', result: 'Again.' });
    expect(executed).toEqual([]);
    const ledger = await ledgerOf(lanefold, threadId);
    expect(ledger.map(({ result }) => failure(result).type)).toEqual(Array(3).fill('answer_cut'));
    expect((await eventsOf(lanefold, threadId)).map(({ kind }) => kind)).not.toContain('tool_started');
    await expectSound(lanefold, threadId);
  });

  test('of a cut answer tells at which limit: the one that was sent, or the tokens that were used', async () => {
    const cut = { toolCalls: [call('clean', '{}')], finishReason: 'length', usage: [10, 77] as [number, number] };
    for (const [agent, limit] of [
      ['limited', '256'],
      ['a', '77'],
    ] as const) {
      const { threadId } = await lanefold.ask([cut, { text: 'Again.' }], { agent });
      expect(failure((await ledgerOf(lanefold, threadId))[0]!.result).message).toContain(`${limit} output tokens`);
    }
  });

  test.each([
    ['claude', 'max_tokens'],
    ['claude', 'refusal'],
    ['gemini', 'MAX_TOKENS'],
    ['gemini', 'SAFETY'],
  ])('is any of a cut answer of %s (%s)', async (model, finishReason) => {
    const replies = [{ toolCalls: [call('clean_once', '{"folder":"/a"}')], finishReason }, { text: 'Again.' }];
    const { threadId } = await lanefold.ask(replies, { model });
    expect(executed).toEqual([]);
    expect(failure((await ledgerOf(lanefold, threadId))[0]!.result).type).toBe('answer_cut');
  });

  test('is none of an answer that ended with stop, or with an unknown reason', async () => {
    for (const finishReason of ['stop', 'eos_token', 'function_call']) {
      await lanefold.ask([{ toolCalls: [call('clean', '{"folder":"/a"}')], finishReason }, { text: 'Ok.' }]);
    }
    expect(executed).toEqual(Array(3).fill('clean {"folder":"/a"}'));
  });
});

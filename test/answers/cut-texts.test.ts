// @module-tag slow
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from 'lanefold/client';
import { z } from 'zod';
import { snakeKeys } from '../../src/base/common/case.ts';
import { answerOf } from '../../src/doors/mcp/runs.ts';

import { contextOf, entriesOf, expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { answerTools, call, startAnswers, type AnswerRuntime } from './helpers.ts';

const cut = (text: string) => ({ text, finishReason: 'length' });

describe('an answer that is cut', () => {
  let lanefold: AnswerRuntime;
  beforeAll(async () => {
    const common = { model: 'compatible', tools: answerTools, maxModelRetries: 0 };
    const output = { schema: z.object({ city: z.string(), country: z.string() }), onValidationError: 'error' as const };
    lanefold = await startAnswers([
      defineAgent({ name: 'a', ...common }),
      defineAgent({ name: 'fails', ...common, onCut: 'fail' }),
      defineAgent({ name: 'continues', ...common, onCut: 'continue', maxIterations: 3 }),
      defineAgent({ name: 'fits', ...common, onCut: 'continue', output }),
      defineAgent({ name: 'thinks', ...common, onCut: 'continue', strategy: 'cot' }),
      defineAgent({ name: 'asks', ...common, onCut: 'fail', strategy: 'aot' }),
    ]);
  });
  afterAll(() => lanefold?.close());

  const stored = async (run: { threadId: string; id: string }) => {
    const { rows } = await lanefold.database.pool.query(
      'select finish_reason, truncated, termination_reason from lanefold.run where thread_id = $1 and id = $2',
      [run.threadId, run.id],
    );
    return rows[0] as unknown;
  };

  test.each([
    ['compatible', 'length', 'length'],
    ['compatible', 'content_filter', 'content_filter'],
    ['claude', 'max_tokens', 'length'],
    ['claude', 'refusal', 'content_filter'],
    ['gemini', 'MAX_TOKENS', 'length'],
    ['gemini', 'SAFETY', 'content_filter'],
  ])('ends its run, which says so (%s: %s)', async (model, finishReason, ours) => {
    const { run, threadId } = await lanefold.ask([{ text: 'It is because of', finishReason }], { model });
    expect(run).toMatchObject({
      status: 'completed',
      terminationReason: 'final_answer',
      result: 'It is because of',
      finishReason: ours,
      truncated: true,
    });
    expect(await stored(run)).toEqual({ finish_reason: ours, truncated: true, termination_reason: 'final_answer' });
    await expectSound(lanefold, threadId);
  });

  test('says so over HTTP, to a chat, a client of AG-UI and one of MCP', async () => {
    const { url } = await lanefold.startServer({ port: 0 });
    const client = createClient({ url });
    const said = async (reply: { text: string; finishReason?: string }) => {
      const { run } = await lanefold.ask([reply]);
      const { threadId, id: runId } = run;
      lanefold.server.reply(reply);
      const input = { messages: [{ id: 'm1', role: 'user', content: 'Continue.' }], tools: [], context: [] };
      const agUi = await fetch(`${url}/v1/ag-ui/a`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ ...input, threadId, runId: 'run_ag_ui', state: {}, forwardedProps: {} }),
      });
      const { data: messages } = await lanefold.threads.uiMessages(threadId);
      const uiStream = await fetch(`${url}/v1/threads/${threadId}/runs/${runId}/events?format=ui`);
      return {
        http: await client.runs.wait({ threadId, id: runId }),
        chat: messages.find(({ id }) => id === runId),
        uiStream: await uiStream.text(),
        agUi: await agUi.text(),
        mcp: answerOf(snakeKeys(run) as never, () => true, { approval: true, event: true }).structuredContent,
      };
    };
    const cutOnes = await said(cut('It is'));
    expect(cutOnes.http).toMatchObject({ finishReason: 'length', truncated: true });
    expect(cutOnes.chat).toMatchObject({ metadata: { truncated: true } });
    expect(cutOnes.agUi).toMatch(/RUN_FINISHED.*"truncated":true/);
    expect(cutOnes.uiStream).toMatch(/"finishReason":"length".*"truncated":true/);
    expect(cutOnes.mcp).toMatchObject({ truncated: true });
    const whole = await said({ text: 'It is.' });
    expect(whole.http).toMatchObject({ finishReason: 'stop', truncated: false });
    const { http: _, ...others } = whole;
    expect(JSON.stringify(others)).not.toContain('truncated');
  });

  test('is told apart from a whole one, and from one of which the provider says nothing', async () => {
    const { run } = await lanefold.ask([{ text: 'Whole.' }]);
    expect(run).toMatchObject({ finishReason: 'stop', truncated: false });
    expect(await stored(run)).toMatchObject({ finish_reason: 'stop', truncated: false });
    const { run: odd } = await lanefold.ask([{ text: 'Whole.', finishReason: 'tired' }]);
    expect(odd).toMatchObject({ result: 'Whole.', finishReason: 'unknown', truncated: false });
  });

  test('fails the run of an agent that takes only whole ones, and the thread continues', async () => {
    for (const finishReason of ['length', 'content_filter']) {
      const { run, threadId } = await lanefold.ask([{ text: 'It is', finishReason }], { agent: 'fails' });
      expect(run).toMatchObject({ status: 'failed', result: null, error: { type: 'answer_cut' }, truncated: true });
      const next = await lanefold.ask([{ text: 'Whole.' }], { agent: 'fails', threadId });
      expect(next.run).toMatchObject({ status: 'completed', result: 'Whole.' });
      await expectSound(lanefold, threadId);
    }
  });

  test('of a strategy with its own questions fails such a run too', async () => {
    const { run } = await lanefold.ask([cut('1. First')], { agent: 'asks' });
    expect(run).toMatchObject({ status: 'failed', error: { type: 'answer_cut' } });
  });

  test('is continued until it is whole, and the result is the whole text', async () => {
    const replies = [cut('One, tw'), cut('o, thr'), { text: 'ee.' }];
    const { run, sent, threadId } = await lanefold.ask(replies, { agent: 'continues' });
    expect(run).toMatchObject({
      status: 'completed',
      terminationReason: 'final_answer',
      result: 'One, two, three.',
      finishReason: 'stop',
      truncated: false,
      iteration: 3,
    });
    expect(sent[1].messages.slice(1)).toMatchObject([
      { role: 'assistant', content: 'One, tw' },
      { role: 'user', content: expect.stringContaining('cut off') },
    ]);
    // as the model wrote them
    const answers = (await entriesOf(lanefold, threadId)).filter(({ role }) => role === 'assistant');
    expect(answers.map(({ payload }) => payload['content'])).toEqual(['One, tw', 'o, thr', 'ee.']);
    await expectSound(lanefold, threadId);
  });

  test('is continued as long as the run may call its model, which keeps what it has', async () => {
    const { run, threadId } = await lanefold.ask([cut('a'), cut('b'), cut('c')], { agent: 'continues' });
    expect(run).toMatchObject({
      status: 'completed',
      terminationReason: 'max_iterations',
      result: 'abc',
      finishReason: 'length',
      truncated: true,
    });
    expect((await contextOf(lanefold, threadId)).at(-1)).toEqual(['assistant', 'c']);
    await expectSound(lanefold, threadId);
  });

  test('is not part of an answer that continues with calls', async () => {
    const replies = [cut('I will '), { text: 'look.', toolCalls: [call('look', '{}')] }, { text: 'Seen.' }];
    const { run } = await lanefold.ask(replies, { agent: 'continues' });
    expect(run).toMatchObject({ status: 'completed', result: 'Seen.', finishReason: 'stop' });
  });

  test('that a filter stopped is not continued', async () => {
    const { run } = await lanefold.ask([{ text: 'It is', finishReason: 'content_filter' }], { agent: 'continues' });
    expect(run).toMatchObject({ status: 'completed', result: 'It is', truncated: true });
  });

  test('meets a contract as a whole', async () => {
    const { run } = await lanefold.ask([cut('{"city":"Par'), { text: 'is","country":"FR"}' }], { agent: 'fits' });
    expect(run).toMatchObject({ status: 'completed', result: { city: 'Paris', country: 'FR' }, truncated: false });
  });

  test('has its conclusion read as a whole', async () => {
    const { run } = await lanefold.ask([cut('1. So\nAnswer: forty'), { text: '-two' }], { agent: 'thinks' });
    expect(run).toMatchObject({ status: 'completed', result: 'forty-two' });
  });

  test('is continued by another worker after a loss', async () => {
    const from = lanefold.server.requests.length;
    lanefold.server.reply(cut('One, '), { hang: true });
    const handle = await lanefold.runs.enqueue({ agent: 'continues', input: 'Count.' });
    await until('the second call is under way', async () => lanefold.server.requests.length === from + 2);
    await lanefold.worker.stop({ graceMs: 0 });
    lanefold.server.reply({ text: 'two.' });
    await lanefold.startWorker();
    expect(await lanefold.runs.wait(handle)).toMatchObject({ status: 'completed', result: 'One, two.' });
    await expectSound(lanefold, handle.threadId);
  });
});

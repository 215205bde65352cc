// @module-tag long
import { clientTool, defineAgent, defineTool, waitFor, type RunningWorker } from 'lanefold';
import { createAgUiHandler, type AgUiHandler } from 'lanefold/ag-ui';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { fakeModel } from '../support/fake-model.ts';
import { until } from '../support/until.ts';

const dig = defineTool({ name: 'dig', input: z.object({}), needsApproval: true, execute: () => 'dug' });
const pay = defineTool({ name: 'pay', input: z.object({}), execute: (_, { runId }) => waitFor(`paid:${runId}`) });
const where = clientTool({ name: 'where', input: z.object({}) });

/** What the model does once its first call has an answer. */
type Then = 'answer' | 'fail' | 'dig';

// in this order: the last test stops the worker
describe('the same resume of AG-UI, sent again', { shuffle: false }, () => {
  let lanefold: TestLanefold;
  let worker: RunningWorker;
  let handler: AgUiHandler;
  /** The questions of the threads whose model fails, once it was asked again. */
  const failed = new Set<string>();
  beforeAll(async () => {
    const model = fakeModel(({ prompt }) => {
      const asked = (prompt.find(({ role }) => role === 'user')!.content as { text: string }[])[0]!.text;
      const [, tool, then] = /please call (\w+), then (\w+)/.exec(asked)!;
      const answered = prompt.filter(({ role }) => role === 'assistant').length;
      if (answered === 0 || (answered === 1 && then === 'dig'))
        return { calls: [{ id: `c${answered}`, name: answered === 0 ? tool! : 'dig', args: {} }] };
      if (then === 'answer') return { text: 'done' };
      failed.add(asked);
      const headers = { 'retry-after': '50' };
      throw Object.assign(new Error('slow down'), { statusCode: 429, isRetryable: true, responseHeaders: headers });
    });
    lanefold = await startLanefold({
      agents: [defineAgent({ name: 'a', model: 'fake:m', tools: [dig, pay, where] })],
      models: { fake: () => model },
    });
    worker = await lanefold.startWorker();
    handler = createAgUiHandler(lanefold, {
      agent: 'a',
      authorize:
        () =>
        ({ threadId }) => ({ threadId, by: 'ada' }),
    });
  });
  afterAll(() => lanefold?.close());

  const post = (body: object, signal?: AbortSignal) =>
    handler(
      new Request('https://shop.example/ag-ui', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        signal: signal ?? null,
        body: JSON.stringify({ messages: [], tools: [], context: [], ...body }),
      }),
    );
  /** The status of the answer to a request, and its first event. */
  async function begun(body: object): Promise<[number, string | undefined]> {
    const left = new AbortController();
    const response = await post(body, left.signal);
    if (!response.ok) return [response.status, ((await response.json()) as { code: string }).code];
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    left.abort();
    return [response.status, /"type":"(\w+)"/.exec(new TextDecoder().decode(value))?.[1]];
  }
  /** How the response to a request ends. */
  async function outcome(body: object): Promise<unknown> {
    const text = await (await post(body)).text();
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as { outcome?: unknown });
    return events.at(-1)!.outcome ?? events.at(-1);
  }
  let threads = 0;
  /** A thread whose run waits for an answer to its call of `tool`. */
  async function interrupted(tool: string, { then = 'answer' as Then, limited = false } = {}) {
    const threadId = `t${++threads}`;
    if (limited)
      await lanefold.limits.set(threadId, {
        kind: 'requests',
        amount: 1,
        per: 'hour',
        scope: { thread: threadId },
      });
    const asked = `please call ${tool}, then ${then} in ${threadId}`;
    const of = (body: object) => ({ threadId, ...body });
    await (await post(of({ runId: 'r1', messages: [{ id: 'm1', role: 'user', content: asked }] }))).text();
    const { activeRunId } = await lanefold.threads.peek(threadId);
    const run = { threadId, id: activeRunId! };
    const { waits } = await lanefold.runs.get(run);
    expect(waits).toHaveLength(1);
    return { asked, run, of, interruptId: `${waits[0]!.kind}:${activeRunId}:1.0` };
  }
  /** The run of a thread, which has no other. */
  async function current({ run }: Awaited<ReturnType<typeof interrupted>>) {
    expect((await lanefold.runs.list({ threadId: run.threadId })).data).toHaveLength(1);
    return lanefold.runs.get(run);
  }

  const answers = [
    ['dig', { status: 'resolved', payload: { approved: true } }, { approved: false }],
    ['dig', { status: 'resolved', payload: { approved: false, reason: 'no' } }, { approved: true }],
    ['pay', { status: 'resolved', payload: { amount: 3, to: ['x', { y: 1 }] } }, { amount: 4 }],
    ['pay', { status: 'resolved', payload: 'text' }, 'other'],
    ['where', { status: 'resolved', payload: { at: 'home' } }, { at: 'work' }],
  ] as const;
  const late = [409, 'interrupt_ended'];

  test.each(answers)('while the run waits until it may call the model again: %s %j', async (tool, answer, other) => {
    const thread = await interrupted(tool, { then: 'fail' });
    const { of, asked } = thread;
    const resume = [{ interruptId: thread.interruptId, ...answer }];
    expect(await begun(of({ runId: 'r2', resume }))).toEqual([200, 'RUN_STARTED']);
    await until('the model was asked again', () => failed.has(asked));
    expect(await begun(of({ runId: 'r2', resume }))).toEqual([200, 'RUN_STARTED']);
    expect(await begun(of({ runId: 'r3', resume }))).toEqual([200, 'RUN_STARTED']);
    expect(await begun(of({ runId: 'r3', resume: [{ ...resume[0]!, payload: other }] }))).toEqual(late);
    expect((await current(thread)).finishedAt).toBeFalsy();
    await lanefold.runs.cancel(thread.run);
  });

  test.each(answers)('while the run waits for a limit: %s %j', async (tool, answer, other) => {
    const thread = await interrupted(tool, { limited: true });
    const { of } = thread;
    const resume = [{ interruptId: thread.interruptId, ...answer }];
    expect(await begun(of({ runId: 'r2', resume }))).toEqual([200, 'RUN_STARTED']);
    await until('the run waits for the limit', async () => (await current(thread)).limitedBy);
    expect(await begun(of({ runId: 'r2', resume }))).toEqual([200, 'RUN_STARTED']);
    expect(await begun(of({ runId: 'r3', resume: [{ ...resume[0]!, payload: other }] }))).toEqual(late);
    await lanefold.runs.cancel(thread.run);
  });

  test.each(answers)('while the run waits for an answer to its next call: %s %j', async (tool, answer, other) => {
    const thread = await interrupted(tool, { then: 'dig' });
    const { of, interruptId } = thread;
    const resume = [{ interruptId, ...answer }];
    const first = await outcome(of({ runId: 'r2', resume }));
    expect(first).toMatchObject({
      type: 'interrupt',
      interrupts: [{ id: interruptId.replace(/^(approval|event)(.*)1\.0$/, 'approval$22.0') }],
    });
    expect(await outcome(of({ runId: 'r2', resume }))).toEqual(first);
    expect(await outcome(of({ runId: 'r3', resume }))).toEqual(first);
    expect(await begun(of({ runId: 'r3', resume: [{ ...resume[0]!, payload: other }] }))).toEqual(late);
    expect((await current(thread)).status).toBe('suspended');
  });

  test.each(answers)('at the same moment: %s %j', async (tool, answer) => {
    const thread = await interrupted(tool);
    const resume = [{ interruptId: thread.interruptId, ...answer }];
    const both = await Promise.all(['r2', 'r3'].map((runId) => outcome(thread.of({ runId, resume }))));
    expect(both).toEqual([{ type: 'success' }, { type: 'success' }]);
    expect((await current(thread)).toolCalls).toHaveLength(1);
  });

  test.each(answers)('after the run has ended: %s %j', async (tool, answer, other) => {
    const thread = await interrupted(tool);
    const { of } = thread;
    const resume = [{ interruptId: thread.interruptId, ...answer }];
    await (await post(of({ runId: 'r2', resume }))).text();
    expect((await current(thread)).status).toBe('completed');
    expect(await begun(of({ runId: 'r2', resume }))).toEqual([200, 'RUN_STARTED']);
    expect(await begun(of({ runId: 'r3', resume: [{ ...resume[0]!, payload: other }] }))).toEqual(late);
    expect((await current(thread)).status).toBe('completed');
  });

  test('while the run waits in the queue', async () => {
    const asked = await Promise.all(answers.map(async (answer) => ({ answer, thread: await interrupted(answer[0]) })));
    await worker.stop();
    for (const { answer, thread } of asked) {
      const { of } = thread;
      const resume = [{ interruptId: thread.interruptId, ...answer[1] }];
      expect(await begun(of({ runId: 'r2', resume }))).toEqual([200, 'RUN_STARTED']);
      expect(await begun(of({ runId: 'r2', resume }))).toEqual([200, 'RUN_STARTED']);
      expect(await begun(of({ runId: 'r3', resume }))).toEqual([200, 'RUN_STARTED']);
      expect(await begun(of({ runId: 'r3', resume: [{ ...resume[0]!, payload: answer[2] }] }))).toEqual(late);
      expect((await current(thread)).status).toBe('queued');
    }
  });
});

import { clientTool, defineAgent, defineTool, waitFor, type RunningWorker } from 'lanefold';
import { createAgUiHandler, type AgUiHandler } from 'lanefold/ag-ui';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { fakeModel } from '../support/fake-model.ts';
import { deferred, until } from '../support/until.ts';

const dig = defineTool({ name: 'dig', input: z.object({}), needsApproval: true, execute: () => 'dug' });
const pay = defineTool({ name: 'pay', input: z.object({}), execute: (_, { runId }) => waitFor(`paid:${runId}`) });
const where = clientTool({ name: 'where', input: z.object({}) });

describe('the same resume of AG-UI, sent again', () => {
  let lanefold: TestLanefold;
  let worker: RunningWorker;
  let handler: AgUiHandler;
  let failing = false;
  let next: string | undefined;
  let calls = 0;
  let gate = deferred();
  beforeEach(async () => {
    failing = false;
    next = undefined;
    calls = 0;
    gate = deferred();
    const model = fakeModel(async ({ prompt }) => {
      calls += 1;
      const asked = JSON.stringify(prompt.at(-1));
      const tool = /please call (\w+)/.exec(asked)?.[1] ?? next;
      next = undefined;
      if (tool) return { calls: [{ id: `c${calls}`, name: tool, args: {} }] };
      if (failing)
        throw Object.assign(new Error('slow down'), {
          statusCode: 429,
          isRetryable: true,
          responseHeaders: { 'retry-after': '50' },
        });
      await gate.promise;
      return { text: 'done' };
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
  afterEach(async () => {
    gate.resolve();
    await lanefold?.close();
  });

  const post = (body: object, signal?: AbortSignal) =>
    handler(
      new Request('https://shop.example/ag-ui', {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, signal: signal ?? null },
        body: JSON.stringify({ threadId: 't', messages: [], tools: [], context: [], ...body }),
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
  async function interrupted(tool: string): Promise<string> {
    const response = await post({
      runId: 'r1',
      messages: [{ id: 'm1', role: 'user', content: `please call ${tool}` }],
    });
    await response.text();
    const { activeRunId } = await lanefold.threads.peek('t');
    const { waits } = await lanefold.runs.get({ threadId: 't', id: activeRunId! });
    expect(waits).toHaveLength(1);
    return `${waits[0]!.kind}:${activeRunId}:1.0`;
  }
  const current = async () => {
    const [run] = (await lanefold.runs.list({ threadId: 't' })).data;
    return run!;
  };

  const answers = [
    ['dig', { status: 'resolved', payload: { approved: true } }, { approved: false }],
    ['dig', { status: 'resolved', payload: { approved: false, reason: 'no' } }, { approved: true }],
    ['pay', { status: 'resolved', payload: { amount: 3, to: ['x', { y: 1 }] } }, { amount: 4 }],
    ['pay', { status: 'resolved', payload: 'text' }, 'other'],
    ['where', { status: 'resolved', payload: { at: 'home' } }, { at: 'work' }],
  ] as const;

  test.each(answers)('while the run waits in the queue: %s %j', async (tool, answer, other) => {
    const interruptId = await interrupted(tool);
    await worker.stop();
    const resume = [{ interruptId, ...answer }];
    expect(await begun({ runId: 'r2', resume })).toEqual([200, 'RUN_STARTED']);
    expect(await begun({ runId: 'r2', resume })).toEqual([200, 'RUN_STARTED']);
    expect(await begun({ runId: 'r3', resume })).toEqual([200, 'RUN_STARTED']);
    expect(await begun({ runId: 'r3', resume: [{ ...resume[0]!, payload: other }] })).toEqual([409, 'interrupt_ended']);
    expect((await current()).status).toBe('queued');
  });

  test.each(answers)('while the run waits until it may call the model again: %s %j', async (tool, answer, other) => {
    const interruptId = await interrupted(tool);
    failing = true;
    const resume = [{ interruptId, ...answer }];
    expect(await begun({ runId: 'r2', resume })).toEqual([200, 'RUN_STARTED']);
    await until('the model was asked again', () => calls >= 2);
    expect(await begun({ runId: 'r2', resume })).toEqual([200, 'RUN_STARTED']);
    expect(await begun({ runId: 'r3', resume })).toEqual([200, 'RUN_STARTED']);
    expect(await begun({ runId: 'r3', resume: [{ ...resume[0]!, payload: other }] })).toEqual([409, 'interrupt_ended']);
    await lanefold.runs.cancel({ threadId: 't', id: (await current()).id });
  });

  test.each(answers)('while the run waits for a limit: %s %j', async (tool, answer, other) => {
    await lanefold.limits.set('calls', { kind: 'requests', amount: 1, per: 'hour' });
    const interruptId = await interrupted(tool);
    const resume = [{ interruptId, ...answer }];
    expect(await begun({ runId: 'r2', resume })).toEqual([200, 'RUN_STARTED']);
    await until('the run waits for the limit', async () => (await current()).waitingFor);
    expect(await begun({ runId: 'r2', resume })).toEqual([200, 'RUN_STARTED']);
    expect(await begun({ runId: 'r3', resume: [{ ...resume[0]!, payload: other }] })).toEqual([409, 'interrupt_ended']);
    await lanefold.runs.cancel({ threadId: 't', id: (await current()).id });
  });

  test.each(answers)('while the run waits for an answer to its next call: %s %j', async (tool, answer, other) => {
    const interruptId = await interrupted(tool);
    next = 'dig';
    gate.resolve();
    const resume = [{ interruptId, ...answer }];
    const first = await outcome({ runId: 'r2', resume });
    expect(first).toMatchObject({
      type: 'interrupt',
      interrupts: [{ id: interruptId.replace(/^(approval|event)(.*)1\.0$/, 'approval$22.0') }],
    });
    expect(await outcome({ runId: 'r2', resume })).toEqual(first);
    expect(await outcome({ runId: 'r3', resume })).toEqual(first);
    expect(await begun({ runId: 'r3', resume: [{ ...resume[0]!, payload: other }] })).toEqual([409, 'interrupt_ended']);
    expect((await current()).status).toBe('suspended');
  });

  test.each(answers)('at the same moment: %s %j', async (tool, answer) => {
    const interruptId = await interrupted(tool);
    gate.resolve();
    const resume = [{ interruptId, ...answer }];
    const both = await Promise.all(['r2', 'r3'].map((runId) => outcome({ runId, resume })));
    expect(both).toEqual([{ type: 'success' }, { type: 'success' }]);
    expect((await lanefold.runs.get({ threadId: 't', id: (await current()).id })).toolCalls).toHaveLength(1);
  });

  test.each(answers)('after the run has ended: %s %j', async (tool, answer, other) => {
    const interruptId = await interrupted(tool);
    gate.resolve();
    const resume = [{ interruptId, ...answer }];
    await (await post({ runId: 'r2', resume })).text();
    expect((await current()).status).toBe('completed');
    expect(await begun({ runId: 'r2', resume })).toEqual([200, 'RUN_STARTED']);
    expect(await begun({ runId: 'r3', resume: [{ ...resume[0]!, payload: other }] })).toEqual([409, 'interrupt_ended']);
    expect((await lanefold.runs.list({ threadId: 't' })).data).toHaveLength(1);
  });
});

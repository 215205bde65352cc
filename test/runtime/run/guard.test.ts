import { defineAgent, defineTool, type GuardedCall, type GuardVerdict } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { contextOf, eventsOf, expectSound, ledgerOf } from '../../support/log.ts';
import { until } from '../../support/until.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const seen: GuardedCall[] = [];
const executed: unknown[] = [];
let guard: (call: GuardedCall) => GuardVerdict | Promise<GuardVerdict> = () => {};
const input = z.object({ n: z.number() });
const execute = ({ n }: { n: number }) => {
  executed.push(n);
  return `did ${n}`;
};
const tools = [
  defineTool({ name: 'act', input, execute }),
  defineTool({ name: 'ask', input, execute, needsApproval: true }),
];
const guardTool = (call: GuardedCall) => {
  seen.push(call);
  return guard(call);
};

describe('a guard', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([
      defineAgent({ name: 'a', model: unset, tools, guardTool, toolContext: { tenant: 'acme' }, toolTimeoutMs: 5_000 }),
    ]);
  });
  beforeEach(() => void (seen.length = executed.length = 0));
  afterAll(() => lanefold?.close());

  const calls = (...names: string[]) => names.map((name, n) => ({ id: `c${n}`, name, args: { n } }));
  const run = async (...names: string[]) => {
    const model = lanefold.model([{ calls: calls(...names) }, { text: 'done' }]);
    return lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'go' });
  };
  const toolMessages = async (threadId: string) =>
    (await contextOf(lanefold, threadId)).filter(([role]) => role === 'tool').map(([, content]) => String(content));

  const starts = async (threadId: string) =>
    (await eventsOf(lanefold, threadId)).filter(({ kind }) => kind === 'tool_started');
  const started = async (threadId: string) => (await starts(threadId)).map(({ data }) => data['tool_call_id']);

  test('sees every call, in call order, before any of them starts', async () => {
    guard = () => void expect(executed).toEqual([]);
    const handle = await run('act', 'nowhere', 'act');
    await lanefold.runs.wait(handle);
    expect(seen).toMatchObject(
      ['act', 'nowhere', 'act'].map((name, n) => ({
        name,
        arguments: { n },
        toolCallId: `c${n}`,
        threadId: handle.threadId,
        runId: handle.id,
        round: 1,
        callIndex: n,
        context: { tenant: 'acme' },
        state: {},
        idempotencyKey: `${handle.id}:1:${n}`,
      })),
    );
    expect(executed).toEqual([0, 2]);
    expect(await started(handle.threadId)).toEqual(['c0', 'c1', 'c2']);
    // the message that makes the calls, as without a guard
    expect((await starts(handle.threadId)).map(({ data }) => data['seq'])).toEqual([1, 1, 1]);
    await expectSound(lanefold, handle.threadId);
  });

  test('can fail the run before any tool of the round has started', async () => {
    guard = ({ callIndex }) => (callIndex === 1 ? { fail: 'not with these two' } : undefined);
    const handle = await run('act', 'act', 'act');
    expect(await lanefold.runs.wait(handle)).toMatchObject({
      status: 'failed',
      error: { type: 'tool_guardrail', message: 'not with these two' },
    });
    expect(executed).toEqual([]);
    expect((await ledgerOf(lanefold, handle.threadId)).map((row) => row['status'])).toEqual([
      'abandoned',
      'abandoned',
      'abandoned',
    ]);
    expect(await started(handle.threadId)).toEqual([]);
    expect((await contextOf(lanefold, handle.threadId)).map(([role]) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'tool',
    ]);
    await expectSound(lanefold, handle.threadId);
  });

  test.each<[string, typeof guard, unknown]>([
    ['with a reason', () => ({ block: 'not on a Sunday' }), 'not on a Sunday'],
    ['without a reason', () => false, 'The call is not allowed.'],
    ['by throwing', () => Promise.reject(new Error('no rules')), 'The guard could not check the call: no rules'],
    ['with an invalid verdict', () => 'fine' as never, 'The call is not allowed.'],
  ])('blocks a call %s: the model sees the error, the other calls run', async (_, verdict, message) => {
    guard = ({ callIndex }) => (callIndex === 0 ? verdict({} as GuardedCall) : true);
    const handle = await run('act', 'act');
    expect(await lanefold.runs.wait(handle)).toMatchObject({ status: 'completed', result: 'done' });
    const [blocked, other] = await toolMessages(handle.threadId);
    expect(JSON.parse(blocked!)).toEqual({ ok: false, error: { type: 'tool_guardrail', message, retryable: false } });
    expect(other).toBe('did 1');
    expect(await ledgerOf(lanefold, handle.threadId)).toMatchObject([
      { status: 'error', attempts: 0 },
      { status: 'ok' },
    ]);
    expect(executed).toEqual([1]);
    expect(await started(handle.threadId)).toEqual(['c1']);
    await expectSound(lanefold, handle.threadId);
  });

  test('cannot change the call', async () => {
    guard = (call) => void ((call.arguments as { n: number }).n = 7);
    const handle = await run('act');
    await lanefold.runs.wait(handle);
    expect(executed).toEqual([0]);
  });

  test('runs before approval is requested, and again once it is granted', async () => {
    guard = ({ callIndex }) => callIndex !== 0;
    const handle = await run('ask', 'ask');
    await until('the run is suspended', async () => (await lanefold.runs.get(handle)).status === 'suspended');
    expect((await lanefold.runs.get(handle)).approvals.map(({ index }) => index)).toEqual([1]);
    guard = () => ({ block: 'no longer' });
    await lanefold.runs.approve(handle, '1.1');
    await lanefold.runs.wait(handle);
    expect(executed).toEqual([]);
    expect((await toolMessages(handle.threadId))[1]).toContain('no longer');
    expect(await started(handle.threadId)).toEqual([]);
    await expectSound(lanefold, handle.threadId);
  });
});

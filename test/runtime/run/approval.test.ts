import { tool } from 'ai';
import { defineAgent, defineTool, type Run, type RunHandle } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { contextOf, entriesOf, eventsOf, expectSound, ledgerOf } from '../../support/log.ts';
import { until } from '../../support/until.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const executed: string[] = [];
const input = z.object({ amount: z.number() });
const execute = (name: string) => (args: { amount: number }) => {
  executed.push(`${name} ${args.amount}`);
  return `${name} ${args.amount} done`;
};
const tools = [
  defineTool({ name: 'pay', input, needsApproval: true, replay: 'never', execute: execute('pay') }),
  defineTool({ name: 'refund', input, needsApproval: ({ amount }) => amount > 100, execute: execute('refund') }),
  defineTool({
    name: 'unsure',
    input,
    needsApproval: () => Promise.reject(new Error('no policy')),
    execute: execute('unsure'),
  }),
  defineTool({ name: 'look', input, execute: execute('look') }),
  {
    sdk: tool({
      inputSchema: input,
      needsApproval: ({ amount }) => Promise.resolve(amount > 100),
      execute: execute('sdk'),
    }),
  },
];

describe('approval', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime(
      [
        defineAgent({ name: 'a', model: unset, tools }),
        defineAgent({ name: 'hasty', model: unset, tools, approvalTimeoutMs: 1 }),
      ],
      { worker: { sweepMs: 50 } },
    );
  });
  beforeEach(() => void (executed.length = 0));
  afterAll(() => lanefold?.close());

  const call = (name: string, amount: unknown = 1) => ({ id: `${name}-${String(amount)}`, name, args: { amount } });
  /** Starts a run whose model makes these calls and then answers; resolves once it awaits approval. */
  const startSuspended = async (
    calls: ReturnType<typeof call>[],
    { agent = 'a', ...options }: { agent?: string; threadId?: string } = {},
  ): Promise<RunHandle & { suspended: Run }> => {
    const model = lanefold.model([{ calls }, { text: 'done' }]);
    const run = await lanefold.runs.enqueue({ agent, model: model.id, input: 'go', ...options });
    const suspended = await until('the run is suspended', async () => {
      const found = await lanefold.runs.get(run);
      return found.status === 'suspended' ? found : undefined;
    });
    return { ...run, suspended };
  };
  const kinds = async (run: RunHandle) => (await eventsOf(lanefold, run.threadId, run.id)).map((event) => event.kind);
  const jobOf = async (run: RunHandle, no: number) =>
    until('the job has ended', async () => {
      const job = await lanefold.queues[0]!.getJob(`${run.id}.${no}`);
      return job?.finishedOn ? job : undefined;
    });

  test('suspends the run without holding a worker, runs the other calls, and resumes once granted', async () => {
    const run = await startSuspended([call('look'), call('pay', 5)]);
    expect(run.suspended).toMatchObject({
      status: 'suspended',
      approvals: [{ call: '1.1', round: 1, index: 1, id: 'pay-5', name: 'pay', arguments: { amount: 5 } }],
      suspendedUntil: expect.any(Date),
      finishedAt: null,
    });
    const week = 7 * 86_400_000;
    expect(Math.abs(run.suspended.suspendedUntil!.getTime() - run.suspended.startedAt!.getTime() - week)).toBeLessThan(
      600_000,
    );
    expect(executed).toEqual(['look 1']);
    expect((await ledgerOf(lanefold, run.threadId)).map((row) => row.status)).toEqual(['ok', 'awaiting_approval']);
    await until('no worker holds it', () => lanefold.worker.active === 0);
    expect((await jobOf(run, 1)).returnvalue).toMatchObject({ status: 'suspended', approvals: ['1.1 pay'] });

    const receipt = await lanefold.runs.approve(run, '1.1', { by: 'ada', reason: 'as agreed' });
    expect(receipt).toEqual({
      threadId: run.threadId,
      runId: run.id,
      call: '1.1',
      decision: 'approved',
      by: 'ada',
      reason: 'as agreed',
      decidedAt: expect.any(Date),
      duplicate: false,
      status: 'queued',
    });
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'done', approvals: [] });
    expect(executed).toEqual(['look 1', 'pay 5']);
    expect(await contextOf(lanefold, run.threadId)).toEqual([
      ['user', 'go'],
      ['assistant', ''],
      ['tool', 'look 1 done'],
      ['tool', 'pay 5 done'],
      ['assistant', 'done'],
    ]);
    expect(await kinds(run)).toEqual([
      'request_started',
      'llm_started',
      'llm_completed',
      'checkpoint',
      'tool_started',
      'approval_requested',
      'approval_decided',
      'tool_started',
      'tool_completed',
      'tool_completed',
      'checkpoint',
      'llm_started',
      'llm_completed',
      'checkpoint',
      'request_completed',
      'checkpoint',
    ]);
    const events = await eventsOf(lanefold, run.threadId);
    const place = { round: 1, index: 1, tool_call_id: 'pay-5', tool_name: 'pay' };
    expect(events[5]!.data).toEqual({ ...place, expires_at: expect.any(String) });
    expect(events[6]!.data).toEqual({ ...place, decision: 'approved', by: 'ada', reason: 'as agreed' });
    await expectSound(lanefold, run.threadId);
  });

  test('if denied, shows the model the reason and does not run the tool', async () => {
    const run = await startSuspended([call('pay', 5)]);
    await lanefold.runs.deny(run, '1.0', { reason: 'too much' });
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'done' });
    const error = { type: 'denied', message: 'The call was denied: too much', retryable: false };
    expect(JSON.parse((await contextOf(lanefold, run.threadId))[2]![1] as string)).toEqual({ ok: false, error });
    expect(await ledgerOf(lanefold, run.threadId)).toMatchObject([{ status: 'denied', attempts: 0 }]);
    expect(executed).toEqual([]);
    await expectSound(lanefold, run.threadId);
  });

  test('of several calls resumes the run once all are decided', async () => {
    const run = await startSuspended([call('pay', 1), call('pay', 2), call('look')]);
    expect(run.suspended.approvals.map(({ index }) => index)).toEqual([0, 1]);
    const first = await lanefold.runs.deny(run, '1.0');
    expect(first).toMatchObject({ decision: 'denied', status: 'suspended' });
    expect((await lanefold.runs.get(run)).approvals.map(({ index }) => index)).toEqual([1]);
    await lanefold.runs.approve(run, '1.1');
    await lanefold.runs.wait(run);
    expect(executed).toEqual(['look 1', 'pay 2']);
    expect((await ledgerOf(lanefold, run.threadId)).map((row) => row.status)).toEqual(['denied', 'ok', 'ok']);
    await expectSound(lanefold, run.threadId);
  });

  test('keeps the first decision: repeating it returns the same receipt, the opposite is rejected', async () => {
    const run = await startSuspended([call('pay')]);
    const place = '1.0';
    const made = await lanefold.runs.approve(run, place, { by: 'ada' });
    expect(await lanefold.runs.approve(run, place, { by: 'bob' })).toMatchObject({
      ...made,
      duplicate: true,
      status: expect.any(String),
    });
    await expect(lanefold.runs.deny(run, place)).rejects.toMatchObject({ code: 'already_decided' });
    await lanefold.runs.wait(run);
    expect(await lanefold.runs.approve(run, place)).toMatchObject({ duplicate: true, status: 'completed' });
    expect(executed).toEqual(['pay 1']);
  });

  test('is rejected for calls that do not await it', async () => {
    const run = await startSuspended([call('look'), call('pay')]);
    const approve = (round: number, index: number) => lanefold.runs.approve(run, `${round}.${index}`);
    await expect(approve(1, 0)).rejects.toMatchObject({ code: 'not_awaiting_approval' });
    await expect(approve(1, 2)).rejects.toMatchObject({ code: 'tool_call_not_found' });
    await expect(approve(-1, 0)).rejects.toMatchObject({ code: 'invalid_input' });
    const unknownRun = { threadId: run.threadId, id: 'nobody' };
    await expect(lanefold.runs.approve(unknownRun, '1.0')).rejects.toMatchObject({
      code: 'run_not_found',
    });
    expect(await lanefold.runs.cancel(run)).toEqual({ status: 'cancelled', accepted: true });
    await expect(approve(1, 1)).rejects.toMatchObject({ code: 'not_awaiting_approval' });
    expect((await ledgerOf(lanefold, run.threadId)).map((row) => row.status)).toEqual(['ok', 'abandoned']);
    await expectSound(lanefold, run.threadId);
  });

  test('is requested if needsApproval returns true for the arguments or throws', async () => {
    const run = await startSuspended([
      call('refund', 100),
      call('refund', 101),
      call('sdk', 100),
      call('sdk', 101),
      call('unsure'),
      call('pay', 'a lot'),
    ]);
    expect(run.suspended.approvals.map(({ index }) => index)).toEqual([1, 3, 4]);
    for (const { round, index } of run.suspended.approvals) await lanefold.runs.approve(run, `${round}.${index}`);
    await lanefold.runs.wait(run);
    expect((await ledgerOf(lanefold, run.threadId)).map((row) => row.status)).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
      'ok',
      'error',
    ]);
    await expectSound(lanefold, run.threadId);
  });

  test('is denied if nobody decides in time', async () => {
    const model = lanefold.model([{ calls: [call('pay', 1), call('pay', 2)] }, { text: 'done' }]);
    const { threadId, run, id } = await lanefold.run({ agent: 'hasty', model: model.id, input: 'go' });
    expect(run).toMatchObject({ status: 'completed', suspendedUntil: null });
    expect((await ledgerOf(lanefold, threadId)).map((row) => row.status)).toEqual(['denied', 'denied']);
    expect((await contextOf(lanefold, threadId))[2]![1]).toContain('the approval request expired');
    const place = '1.0';
    await expect(lanefold.runs.approve({ threadId, id }, place)).rejects.toMatchObject({ code: 'already_decided' });
    expect(await lanefold.runs.deny({ threadId, id }, place)).toMatchObject({ by: 'lanefold', duplicate: true });
    expect(executed).toEqual([]);
    await expectSound(lanefold, threadId);
  });

  test('while pending, queues input, defers context operations and lets other runs wait', async () => {
    const run = await startSuspended([call('pay')]);
    const { threadId } = run;
    expect(await lanefold.runs.steer(threadId, 'and hurry')).toMatchObject({ status: 'queued' });
    const replaced = await lanefold.contexts.replace(threadId, { entries: [{ role: 'user', content: 'new' }] });
    expect(replaced).toMatchObject({ status: 'deferred' });
    await expect(
      lanefold.threads.append(threadId, [{ message: { role: 'user', content: 'x' } }]),
    ).rejects.toMatchObject({ code: 'lane_busy' });
    await expect(lanefold.threads.erase(threadId)).rejects.toMatchObject({ code: 'thread_busy' });
    const waiting = await lanefold.runs.enqueue({ agent: 'a', input: 'patient', threadId, busy: 'wait' });
    expect(waiting.status).toBe('waiting');
    await lanefold.runs.approve(run, '1.0');
    await lanefold.runs.wait(waiting);
    const messages = (await entriesOf(lanefold, threadId)).filter((entry) => entry.kind === 'ai_message');
    expect(messages.map((entry) => entry.payload['content'])).toEqual([
      'go',
      '',
      'pay 1 done',
      'and hurry',
      'done',
      'patient',
      'patient',
    ]);
    expect((await contextOf(lanefold, threadId)).map(([, content]) => content)).toEqual(['new', 'patient', 'patient']);
    await expectSound(lanefold, threadId);
  });

  test('is moot once the run is interrupted: the run is cancelled and its tool group closed', async () => {
    const run = await startSuspended([call('look'), call('pay', 1), call('pay', 2)]);
    await lanefold.runs.deny(run, '1.1', { reason: 'no' });
    const { run: next } = await lanefold.run({
      agent: 'a',
      input: 'instead',
      threadId: run.threadId,
      busy: 'interrupt',
    });
    expect(next).toMatchObject({ status: 'completed', result: 'instead' });
    expect(await lanefold.runs.get(run)).toMatchObject({ status: 'cancelled', approvals: [], suspendedUntil: null });
    const [, , look, denied, open] = (await contextOf(lanefold, run.threadId)).map(([, content]) => String(content));
    expect(look).toBe('look 1 done');
    expect(denied).toContain('The call was denied: no');
    expect(JSON.parse(open!)).toMatchObject({ error: { type: 'cancelled' } });
    await expectSound(lanefold, run.threadId);
    await lanefold.threads.erase(run.threadId);
    await expect(lanefold.runs.approve(run, '1.2')).rejects.toMatchObject({ code: 'thread_erased' });
  });

  test('can be requested in several rounds of one run', async () => {
    const model = lanefold.model([{ calls: [call('pay', 1)] }, { calls: [call('pay', 2)] }, { text: 'done' }]);
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'go' });
    for (const round of [1, 2]) {
      await until(`round ${round} waits`, async () => (await lanefold.runs.get(run)).approvals[0]?.round === round);
      await lanefold.runs.approve(run, `${round}.0`);
    }
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', iteration: 3, step: 9 });
    expect(executed).toEqual(['pay 1', 'pay 2']);
    await expectSound(lanefold, run.threadId);
  });
});

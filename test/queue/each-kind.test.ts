import { agentTool, createLanefold, defineAgent, defineTool, handoffTool, sleep, waitFor } from 'lanefold';
import type { EnqueueOptions, Lanefold, RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openQueue } from '../../src/runs/queue/open-queue.ts';
import { noRedis, queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';

const nothing = z.object({});
const pay = defineTool({ name: 'pay', input: nothing, needsApproval: true, execute: () => 'paid' });
const hear = defineTool({ name: 'hear', input: nothing, replay: 'never', execute: () => waitFor('news') });
const nap = defineTool({ name: 'nap', input: nothing, execute: () => sleep(1) });

/** An agent that calls its tool once, and then says `done`. */
const caller = (name: string, tool: ReturnType<typeof defineTool>, args: object = {}) =>
  defineAgent({ name, model: `scripted:${JSON.stringify([{ tool: tool.name, args }, 'done'])}`, tools: [tool] });

/**
 * Whatever makes a run continue adds a job or wakes one: here from one process, for the worker of another. With the queue in
 * PostgreSQL, the suites of each kind show the same and more.
 */
describe.skipIf(noRedis() || queueBackend() !== 'redis')('through the queue, a run', () => {
  let lanefold: TestLanefold;
  let other: Lanefold;
  let model: TypedModel;
  beforeAll(async () => {
    model = typedModel();
    const helper = defineAgent({ name: 'helper', model: 'scripted:["helped"]' });
    lanefold = await startLanefold({
      agents: [
        defineAgent({ name: 'echo', model: 'scripted:echo' }),
        defineAgent({ name: 'typist', model: 'typed:m' }),
        caller('payer', pay),
        caller('listener', hear),
        caller('sleeper', nap),
        helper,
        caller('lead', agentTool(helper), { task: 'help' }),
        caller('reception', handoffTool('helper')),
      ],
      models: { typed: () => model },
    });
    other = await createLanefold(lanefold.options);
    await other.startWorker({ concurrency: 4, sweepMs: 50 });
  });
  afterAll(async () => {
    await other?.close();
    await lanefold?.close();
  });

  const start = (agent: string, more: Partial<EnqueueOptions> = {}) =>
    lanefold.runs.enqueue({ agent, input: 'hi', ...more });
  const answer = async (text: string) => {
    const keys = await model.next();
    keys.type(text);
    keys.stop();
  };
  const suspended = (run: RunRef) =>
    until('it is suspended', async () => (await lanefold.runs.get(run)).status === 'suspended');
  const expectDone = async (run: RunRef, result = 'done') => {
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result });
    await expectSound(lanefold, run.threadId);
  };

  test('starts at once, after its delay, and with its priority', async () => {
    const runs = await Promise.all([start('echo'), start('echo', { delayMs: 1 }), start('echo', { priority: 5 })]);
    for (const run of runs) await expectDone(run, 'hi');
  });

  test('waits in line, replaces the one before it, and is cancelled', async () => {
    const first = await start('typist');
    const keys = await model.next();
    const { threadId } = first;
    const next = await start('echo', { threadId, busy: 'wait' });
    const dropped = await start('echo', { threadId, busy: 'wait' });
    await lanefold.runs.cancel(dropped);
    keys.type('first');
    keys.stop();
    expect(await lanefold.runs.wait(first)).toMatchObject({ result: 'first' });
    await expectDone(next, 'hi');
    expect(await lanefold.runs.wait(dropped)).toMatchObject({ status: 'cancelled' });
    const slow = await start('typist', { threadId });
    await model.next();
    await expectDone(await start('echo', { threadId, busy: 'interrupt' }), 'hi');
    expect(await lanefold.runs.wait(slow)).not.toMatchObject({ status: 'completed' });
  });

  test('continues once its call is approved, its event comes, or its time is up', async () => {
    const [payer, listener, sleeper] = await Promise.all([start('payer'), start('listener'), start('sleeper')]);
    await suspended(payer);
    await lanefold.runs.approve(payer, '1.0');
    await suspended(listener);
    expect((await lanefold.events.send('news', 1)).resolved).toHaveLength(1);
    for (const run of [payer, listener, sleeper]) await expectDone(run);
  });

  test('continues once the run of its call has ended, and with the agent it was handed to', async () => {
    const lead = await start('lead');
    await expectDone(lead);
    expect((await lanefold.runs.tree(lead)).runs.map(({ agent, status }) => [agent, status])).toEqual([
      ['lead', 'completed'],
      ['helper', 'completed'],
    ]);
    await expectDone(await start('reception'), 'helped');
  });

  test('continues once a limit lets it', async () => {
    await lanefold.limits.set('slots', { kind: 'concurrency', scope: { account: '*' }, amount: 1 });
    const limitKeys = { account: 'acme' };
    const first = await start('typist', { limitKeys });
    const keys = await model.next();
    const second = await start('typist', { limitKeys });
    await until('it waits', async () => (await lanefold.runs.get(second)).limitedBy !== null);
    keys.type('one');
    keys.stop();
    await expectDone(first, 'one');
    await answer('two');
    await expectDone(second, 'two');
  });

  test('is started by a schedule', async () => {
    await lanefold.schedules.set('tick', { agent: 'echo', cron: '* * * * * *', input: 'tick' });
    const [slot] = await until('a slot has fired', async () => {
      const { data } = await lanefold.schedules.slots('tick');
      const fired = data.filter(({ status }) => status === 'fired');
      return fired.length > 0 && fired;
    });
    await lanefold.schedules.remove('tick');
    await expectDone({ threadId: slot!.threadId!, id: slot!.runId! }, 'tick');
  });

  test('leaves no job behind that waits or is at work', async () => {
    const { redisUrl, queuePrefix } = lanefold.options;
    const queue = openQueue({
      databaseUrl: lanefold.databaseUrl,
      redisUrl: redisUrl!,
      prefix: queuePrefix!,
    });
    const none = { waiting: 0, prioritized: 0, delayed: 0, active: 0, failed: 0 };
    await until('every job has ended', async () => {
      const { waiting, prioritized, delayed, active } = await queue.queues[0]!.getJobCounts();
      return [waiting, prioritized, delayed, active].every((count) => !count);
    });
    expect(await queue.queues[0]!.getJobCounts(...(Object.keys(none) as (keyof typeof none)[]))).toEqual(none);
    await queue.close();
  });
});

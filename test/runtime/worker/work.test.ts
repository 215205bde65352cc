// @module-tag slow
import { agentTool, defineAgent, defineTool, type LanefoldOptions } from 'lanefold';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { provider } from '../../circuits/provider.ts';
import { unseen } from '../../schedules/support.ts';
import { noRedis, startLanefold, type TestLanefold } from '../../support/lanefold.ts';
import { expectSound } from '../../support/log.ts';
import { deferred, until } from '../../support/until.ts';
import { startReceiver } from '../../webhooks/receiver.ts';

const day = 86_400_000;

describe.skipIf(noRedis())('work for a bounded time', () => {
  let lanefold: TestLanefold;
  let gate = deferred();
  const called = (tool: string, args = {}) => `scripted:${JSON.stringify([{ tool, args }, 'done'])}`;
  const { model } = provider();
  const options = (): LanefoldOptions => ({
    privateWebhooks: true,
    models: { 'fake:m': model },
    agents: [
      defineAgent({ name: 'support', model: 'fake:m' }),
      defineAgent({ name: 'echo', model: 'scripted:echo' }),
      defineAgent({
        name: 'asker',
        model: called('pay'),
        tools: [defineTool({ name: 'pay', needsApproval: true, input: z.object({}), execute: () => 'paid' })],
      }),
      defineAgent({
        name: 'slow',
        model: called('think'),
        tools: [defineTool({ name: 'think', input: z.object({}), execute: () => gate.promise })],
      }),
      defineAgent({ name: 'parent', model: called('ask_echo', { task: 'go' }), tools: [agentTool('echo')] }),
    ],
  });
  beforeEach(async () => {
    gate = deferred();
    lanefold = await startLanefold(options());
  });
  afterEach(async () => {
    gate.resolve();
    await lanefold.close();
  });

  const ask = (agent: string, more: object = {}) => lanefold.runs.enqueue({ agent, input: 'go', ...more });
  const statusOf = async (run: { threadId: string; id: string }) => (await lanefold.runs.get(run)).status;

  test('does what is due, and leaves what waits for a person, a limit or a time', async () => {
    const runs = await Promise.all(Array.from({ length: 8 }, () => ask('echo')));
    const later = await ask('echo', { delayMs: day });
    const asking = await ask('asker');
    await lanefold.limits.set('closed', { kind: 'concurrency', amount: 0, scope: { plan: 'none' } });
    const held = await ask('echo', { limitKeys: { plan: 'none' } });
    // the second waits for the first
    const [first, second] = [
      await ask('echo', { threadId: 'row', createThread: true }),
      await ask('echo', { threadId: 'row', busy: 'wait' }),
    ];
    expect(await lanefold.work()).toEqual({ ended: 11, released: 0, idle: true });
    for (const run of [...runs, first, second]) {
      expect(await statusOf(run)).toBe('completed');
      await expectSound(lanefold, run.threadId);
    }
    expect(await Promise.all([later, held, asking].map(statusOf))).toEqual(['queued', 'queued', 'suspended']);
    expect((await lanefold.workers.list()).map(({ state }) => state)).toEqual(['stopped']);

    await lanefold.runs.approve(asking, '1.0');
    expect(await lanefold.work()).toEqual({ ended: 1, released: 0, idle: true });
    expect(await statusOf(asking)).toBe('completed');
    expect(await lanefold.work()).toEqual({ ended: 0, released: 0, idle: true });
  });

  test('does what runs lead to, and what features have to do now', async () => {
    const parent = await ask('parent');
    const receiver = await startReceiver();
    try {
      await lanefold.webhooks.set('ends', { url: receiver.url, types: ['run.completed'] });
      await lanefold.schedules.set('daily', { agent: 'echo', input: 'go', everyMs: day });
      await unseen(lanefold, 'daily', { count: 1, everyMs: day, agoMs: 1_000 });
      const { ended, idle } = await lanefold.work();
      const { data } = await lanefold.runs.list({});
      expect([idle, ended]).toEqual([true, data.length + 1]);
      expect(data.map(({ status }) => status)).toEqual(data.map(() => 'completed'));
      // of the parent, its child and the slot
      expect(data).toHaveLength(3);
      expect(new Set(receiver.received.map(({ event }) => event.data['run_id']))).toEqual(
        new Set(data.map(({ id }) => id)),
      );
      expect(await statusOf(parent)).toBe('completed');
    } finally {
      await receiver.close();
    }
  });

  test('queues again what the queue has lost', async () => {
    const run = await ask('echo');
    for (const queue of lanefold.queues) await queue.obliterate({ force: true });
    expect(await lanefold.work({ leaseMs: 300 })).toEqual({ ended: 1, released: 0, idle: true });
    expect(await statusOf(run)).toBe('completed');
  });

  test('continues runs whose circuit was closed while no worker was there', async () => {
    await lanefold.circuits.open('fake:m', { reason: 'maintenance' });
    const runs = [await ask('support'), await ask('support')];
    expect(await lanefold.work()).toEqual({ ended: 0, released: 0, idle: true });
    expect((await lanefold.runs.get(runs[0]!)).limitedBy).toMatchObject({ circuit: 'fake:m' });
    await lanefold.circuits.close('fake:m');
    expect(await lanefold.work()).toEqual({ ended: 2, released: 0, idle: true });
    for (const run of runs) expect(await statusOf(run)).toBe('completed');
  });

  test('continues a run that was lost while its job was to wait for long', async () => {
    const run = await ask('echo', { delayMs: day });
    // as a claim leaves the run that was executed long after its worker had given it up
    await lanefold.database.pool.query(
      `update lanefold._run set status = 'running', start_at = null, started_at = now() - interval '9 s', lease = 3, lease_ms = 100,
         worker_id = 'worker_gone', lease_until = now() - interval '8 s', enqueued_at = now() - interval '9 s' where id = $1`,
      [run.id],
    );
    expect(await lanefold.work()).toEqual({ ended: 1, released: 0, idle: true });
    expect(await statusOf(run)).toBe('completed');
  });

  test('waits for a run that was lost just now, and continues that', async () => {
    const run = await ask('echo');
    await lanefold.database.pool.query(
      `update lanefold._run set status = 'running', started_at = now(), lease = 3, lease_ms = 100, worker_id = 'worker_gone',
         lease_until = now() - interval '1 s', enqueued_at = now() where id = $1`,
      [run.id],
    );
    for (const queue of lanefold.queues) await queue.obliterate({ force: true });
    expect(await lanefold.work({ leaseMs: 1_500, sweepMs: 300 })).toEqual({ ended: 1, released: 0, idle: true });
  });

  test('releases what has not ended when its time is over, and the next work continues it', async () => {
    const run = await ask('slow');
    expect(await lanefold.work({ maxMs: 1_000 })).toEqual({ ended: 0, released: 1, idle: false });
    expect(await statusOf(run)).toBe('queued');
    gate.resolve();
    expect(await lanefold.work()).toEqual({ ended: 1, released: 0, idle: true });
    expect(await statusOf(run)).toBe('completed');
    await expectSound(lanefold, run.threadId);
  });

  test('ends early where its caller, or the library, stops', async () => {
    const run = await ask('slow');
    const caller = new AbortController();
    const work = lanefold.work({ signal: caller.signal, stopGraceMs: 0 });
    await until('it runs', async () => (await statusOf(run)) === 'running');
    caller.abort();
    expect(await work).toEqual({ ended: 0, released: 1, idle: false });
    const again = lanefold.work({ stopGraceMs: 0 });
    await until('it runs again', async () => (await statusOf(run)) === 'running');
    await lanefold.close();
    expect(await again).toEqual({ ended: 0, released: 1, idle: false });
    lanefold = await startLanefold(options());
  });

  test('a worker that stops has no rest to wait for', async () => {
    const worker = await lanefold.startWorker();
    await ask('slow');
    await until('it runs', () => worker.active === 1);
    const stopped = expect(worker.idle()).rejects.toThrow('The worker has stopped.');
    await worker.stop({ graceMs: 0 });
    await stopped;
  });

  test.each([0, 999, 1.5, 3_600_001, Number.NaN])('refuses %s ms', async (maxMs) => {
    await expect(lanefold.work({ maxMs })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

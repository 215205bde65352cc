import { createLanefold, defineAgent, defineTool, waitFor, type RunningWorker } from 'lanefold';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { unseen } from '../schedules/support.ts';
import { answerWith, startReceiver, type Receiver } from './receiver.ts';
import { endedRun } from './support.ts';

describe('between sweeps, a webhook', () => {
  let lanefold: TestLanefold;
  let other: Awaited<ReturnType<typeof createLanefold>>;
  let worker: RunningWorker;
  let receiver: Receiver;
  let listener: pg.Client;
  let notified = 0;
  beforeAll(async () => {
    const pay = defineTool({ name: 'pay', input: z.object({}), execute: () => 'paid', needsApproval: true });
    const ask = defineTool({ name: 'ask', input: z.object({}), execute: () => waitFor('answer') });
    const agents = [
      defineAgent({ name: 'echo', model: 'scripted:echo', settings: { maxOutputTokens: 20 } }),
      defineAgent({ name: 'payer', model: 'scripted:[{"tool":"pay","args":{}},"Paid."]', tools: [pay] }),
      defineAgent({ name: 'asker', model: 'scripted:[{"tool":"ask","args":{}},"Asked."]', tools: [ask] }),
    ];
    // no worker: this process is told of what it does to runs by nothing but its own answers
    lanefold = await startLanefold({ privateWebhooks: true, agents });
    receiver = await startReceiver();
    listener = new pg.Client({ connectionString: lanefold.database.url });
    await listener.connect();
    other = await createLanefold(lanefold.options);
    worker = await other.startWorker({ sweepMs: 3_600_000, metrics: true });
  });
  afterEach(async () => {
    for (const { name } of await lanefold.webhooks.list()) await lanefold.webhooks.remove(name);
    await listener.query('unlisten *');
  });
  afterAll(async () => {
    await listener?.end();
    await other?.close();
    await lanefold?.close();
    await receiver?.close();
  });
  /** Sets one, and counts the notifications from then on. */
  const set = async (name: string, more = {}) => {
    await lanefold.webhooks.set(name, { url: `${receiver.url}/${name}`, ...more });
    notified = 0;
    listener.removeAllListeners('notification').on('notification', () => notified++);
    await listener.query('listen lanefold_webhooks');
  };
  const got = (name: string, count: number) =>
    until(`${count} events of ${name}`, () => receiver.at(`/${name}`).length === count && receiver.at(`/${name}`));
  const types = (name: string) => receiver.at(`/${name}`).map(({ event }) => event.type);

  test('is told by the worker that ended the runs, without a notification in their commits', async () => {
    await set('ends', { ordered: true });
    const runs = await Promise.all(Array.from({ length: 10 }, () => endedRun(lanefold)));
    await endedRun(lanefold, 'diary');
    await endedRun(lanefold, 'diary');
    await got('ends', runs.length + 2);
    await listener.query('select 1');
    expect(notified).toBe(0);
  });

  test('is told of a run that another process has cancelled', async () => {
    await lanefold.limits.set('none', { kind: 'concurrency', amount: 0 });
    await set('cancels');
    const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'x' });
    await lanefold.runs.cancel(run);
    await got('cancels', 2);
    expect(types('cancels').sort()).toEqual(['limit.exhausted', 'run.cancelled']);
    await lanefold.limits.remove('none');
  });

  test('has its attempts counted, as slots are', async () => {
    const counted = (series: string, value: number) =>
      until(`${series} is ${value}`, async () =>
        (await worker.metrics()).includes(`lanefold_worker_${series} ${value}\n`),
      );
    await set('counted');
    receiver.respond = answerWith(500);
    await endedRun(lanefold);
    await counted('webhook_attempts_total{outcome="retried"}', 1);
    await lanefold.schedules.set('counted', { agent: 'echo', input: 'x', cron: '@yearly' });
    await unseen(lanefold, 'counted', { count: 2, everyMs: 3_600_000, agoMs: 3_600_000 });
    await counted('schedule_slots_total{status="fired"}', 1);
    await counted('schedule_slots_total{status="missed"}', 1);
    await lanefold.schedules.remove('counted');
    receiver.respond = answerWith(200);
  });

  test('is told of calls that wait', async () => {
    await set('waits', { types: ['approval.requested', 'wait.started'] });
    await lanefold.runs.enqueue({ agent: 'payer', input: 'x' });
    await lanefold.runs.enqueue({ agent: 'asker', input: 'x' });
    await got('waits', 2);
    expect(types('waits').sort()).toEqual(['approval.requested', 'wait.started']);
    expect(notified).toBe(0);
  });
});

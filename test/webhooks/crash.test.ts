// @module-tag long
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { quick, startHarness, type FaultHarness, type WorkerProcess } from '../faults/harness.ts';

import { until } from '../support/until.ts';
import { answerWith, startReceiver, type Received, type Receiver } from './receiver.ts';

describe('webhooks', () => {
  let harness: FaultHarness;
  let receiver: Receiver;
  beforeAll(async () => {
    process.env['LANEFOLD_PRIVATE_WEBHOOKS'] = 'on';
    harness = await startHarness();
    harness.callServer.respond = async () => ({ text: 'Done.' });
    receiver = await startReceiver();
  });
  afterEach(() => void (receiver.respond = answerWith(200)));
  afterAll(async () => {
    delete process.env['LANEFOLD_PRIVATE_WEBHOOKS'];
    await harness?.close();
    await receiver?.close();
  });
  const sql = (text: string, values: unknown[] = []) => harness.database.pool.query(text, values);
  const start = (threadId: string) =>
    harness.runs.enqueue({ agent: 'fault', input: 'go', threadId, createThread: true, busy: 'wait' });
  /** As if leases, and the pauses after failures, were over. */
  const passTime = () =>
    sql("update lanefold._webhook_delivery set next_at = now() where status = 'pending' and next_at > now()");
  const pending = async () =>
    (await sql("select 1 from lanefold.webhook_delivery where status = 'pending'")).rowCount ?? 0;

  test.each(
    ['commit_step', 'spread_events', 'take_deliveries', 'settle_deliveries'].flatMap((statement) =>
      (['dieBefore', 'dieAfter'] as const).map((how) => [how, statement] as const),
    ),
  )('reach their receiver, also if a worker ends by %s %s', async (how, statement) => {
    const name = `${how}-${statement}`;
    // an endpoint that wants order has deliveries from the start, which are taken one by one
    const ordered = statement === 'take_deliveries';
    await harness.webhooks.set(name, { url: `${receiver.url}/${name}`, ordered });
    const worker = await harness.spawnWorker({ worker: quick, [how]: `${statement}:1` });
    const run = await start(name);
    await worker.waitForExit();
    const rescuer = await harness.startWorker(quick);
    await harness.expireLease(name);
    await harness.runs.wait(run);
    await until('it is delivered', async () => {
      await passTime();
      return (await pending()) === 0;
    });
    const got = receiver.at(`/${name}`);
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(got.map(({ event }) => event)).toMatchObject(
      got.map(() => ({ type: 'run.completed', data: { run_id: run.id } })),
    );
    expect(await harness.webhooks.deliveries(name)).toMatchObject([{ status: 'delivered' }]);
    await rescuer.stop();
    await harness.webhooks.remove(name);
  });

  test('reach a receiver that fails, hangs, redirects and dies, while workers are killed at random', async () => {
    const threads = 30;
    await harness.webhooks.set('storm', { url: `${receiver.url}/storm` });
    let no = 0;
    const faults: Receiver['respond'][] = [
      answerWith(500),
      () => {},
      (_: Received, response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
      (_: Received, response) => void response.destroy(),
    ];
    receiver.respond = (request, response) => (faults[no++ % 7] ?? answerWith(200))(request, response);
    const options = { worker: { ...quick, webhookTimeoutMs: 200 } };
    let workers: WorkerProcess[] = await Promise.all(
      ['one', 'two', 'three'].map((name) => harness.spawnWorker({ ...options, name })),
    );
    const runs = await Promise.all(Array.from({ length: threads }, (_, i) => start(`storm-${i}`)));
    for (let kill = 1; kill <= 3; kill++) {
      const before = receiver.at('/storm').length;
      await until('more has come', async () => {
        await passTime();
        return receiver.at('/storm').length > before;
      });
      const victim = workers[kill % workers.length]!;
      await victim.kill();
      workers = [
        ...workers.filter((one) => one !== victim),
        await harness.spawnWorker({ ...options, name: `next-${kill}` }),
      ];
    }
    for (const run of runs) await harness.runs.wait(run);
    receiver.respond = answerWith(200);
    await until('all are settled', async () => {
      await passTime();
      return (await pending()) === 0;
    });
    const deliveries = await harness.webhooks.deliveries('storm', { limit: 1_000 });
    expect(deliveries.map(({ status }) => status)).toEqual(Array(threads).fill('delivered'));
    const got = receiver.at('/storm');
    expect(new Set(got.map(({ event }) => event.data['run_id']))).toEqual(new Set(runs.map(({ id }) => id)));
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(threads);
    expect(receiver.at('/elsewhere')).toEqual([]);
  });
});

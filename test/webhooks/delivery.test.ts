// @module-tag slow
import { createLanefold, defineAgent, defineTool } from 'lanefold';
import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { answerWith, startReceiver, type Received, type Receiver } from './receiver.ts';
import { endedRun, passTime, settled } from './support.ts';

describe('a webhook', () => {
  let lanefold: TestLanefold;
  let receiver: Receiver;
  beforeAll(async () => {
    const pay = defineTool({
      name: 'pay',
      input: z.object({}).loose(),
      execute: () => 'paid',
      needsApproval: true,
    });
    lanefold = await startLanefold({
      privateWebhooks: true,
      agents: [
        defineAgent({ name: 'echo', model: 'scripted:echo', settings: { maxOutputTokens: 20 } }),
        defineAgent({ name: 'payer', model: 'scripted:[{"tool":"pay","args":{}},"Paid."]', tools: [pay] }),
      ],
    });
    receiver = await startReceiver();
    await lanefold.startWorker({ webhookTimeoutMs: 1_000, sweepMs: 200 });
  });
  afterEach(async () => {
    for (const { name, tenant } of await lanefold.webhooks.list()) await lanefold.webhooks.remove(name, { tenant });
    receiver.respond = answerWith(200);
  });
  afterAll(async () => {
    await lanefold?.close();
    await receiver?.close();
  });
  const at = (name: string) => receiver.at(`/${name}`);
  const set = (name: string, more = {}) => lanefold.webhooks.set(name, { url: `${receiver.url}/${name}`, ...more });
  const outbox = async () => (await lanefold.database.pool.query('select from lanefold._webhook_event')).rowCount;
  const verify = (secret: string | undefined, { body, headers }: Received) =>
    new Webhook(secret!).verify(body, headers as Record<string, string>);

  test('is told of the end of a run, signed', async () => {
    const { secret } = await set('ends', { includeResult: true });
    const run = await endedRun(lanefold);
    const [delivery] = await settled(lanefold, 'ends', 1);
    const [received] = at('ends');
    expect(verify(secret, received!)).toMatchObject({
      type: 'run.completed',
      data: {
        thread_id: run.threadId,
        run_id: run.id,
        agent: 'echo',
        status: 'completed',
        termination_reason: 'final_answer',
        result: run.result,
      },
    });
    expect(received!.headers['webhook-id']).toBe(delivery!.id);
    expect(delivery).toMatchObject({ status: 'delivered', attempts: 1, statusCode: 200, error: null, nextAt: null });
  });

  test('is told only of what it wants', async () => {
    await set('failures', { types: ['run.failed'] });
    await set('others', { agents: ['somebody'] });
    await set('all');
    const { id } = await endedRun(lanefold);
    await settled(lanefold, 'all', 1);
    expect(at('all').map(({ event }) => event.data)).toMatchObject([{ run_id: id }]);
    expect(at('all')[0]!.event.data).not.toHaveProperty('result');
    for (const name of ['failures', 'others']) expect(await lanefold.webhooks.deliveries(name)).toEqual([]);
  });

  test('of another tenant is told nothing', async () => {
    await lanefold.webhooks.set('acme', { url: `${receiver.url}/acme` }, { tenant: 'acme' });
    const own = await endedRun(lanefold);
    const theirs = await endedRun(lanefold.forTenant('acme'));
    await until('it is told of its own', () => at('acme').length > 0);
    expect(at('acme').map(({ event }) => event.data['run_id'])).toEqual([theirs.id]);
    expect(own.id).not.toBe(theirs.id);
    await expect(lanefold.forTenant('bolt').webhooks.get('acme')).rejects.toMatchObject({ code: 'webhook_not_found' });
  });

  test('is told of wanted approvals, and of a run that was cancelled', async () => {
    await set('approvals', { types: ['approval.requested', 'run.cancelled'] });
    const run = await lanefold.runs.enqueue({ agent: 'payer', input: 'pay' });
    await until('it is told of the approval', () => at('approvals').length === 1);
    expect(at('approvals')[0]!.event).toMatchObject({
      type: 'approval.requested',
      data: { run_id: run.id, agent: 'payer', calls: [{ round: 1, index: 0, tool_name: 'pay' }] },
    });
    await lanefold.runs.cancel(run);
    await until('it is told of the end', () => at('approvals').length === 2);
    expect(at('approvals')[1]!.event).toMatchObject({ type: 'run.cancelled', data: { run_id: run.id } });
  });

  test('is told of a run that waits for a limit, and of slots that were missed', async () => {
    await set('limits', { types: ['limit.exhausted', 'schedule.missed'] });
    await lanefold.limits.set('none', { kind: 'concurrency', amount: 0 });
    const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'x' });
    await until('it is told of the limit', () => at('limits').length === 1);
    expect(at('limits')[0]!.event).toMatchObject({
      type: 'limit.exhausted',
      data: { run_id: run.id, limited_by: { limit: 'none' } },
    });
    await lanefold.runs.cancel(run);
    await lanefold.limits.remove('none');
    await lanefold.schedules.set('nightly', { agent: 'echo', input: 'x', cron: '@yearly', catchUp: 'none' });
    await lanefold.database.pool.query(
      "update lanefold._schedule set next_at = date_trunc('year', now()), timing = timing || '{}' where name = 'nightly'",
    );
    await lanefold.database.pool.query("select pg_notify('lanefold_schedules', '')");
    await until('it is told of the slot', () => at('limits').length === 2);
    expect(at('limits')[1]!.event).toMatchObject({
      type: 'schedule.missed',
      data: { schedule: 'nightly', agent: 'echo', status: 'missed' },
    });
    await lanefold.schedules.remove('nightly');
  });

  test.each([
    ['fails', answerWith(503, 'overloaded\u0000'), { code: 'status' }, 503],
    ['redirects', (_: Received, response: never) => redirect(response), { code: 'redirect' }, 307],
    ['hangs', () => {}, { code: 'timeout' }, null],
    ['dies', (_: Received, response: never) => die(response), { code: 'connection' }, null],
  ] as const)(
    'of a receiver that %s gets every event in the end, under the same id',
    async (name, respond, error, code) => {
      await set(name);
      receiver.respond = respond as Receiver['respond'];
      const runs = [await endedRun(lanefold), await endedRun(lanefold)];
      const failed = await until('both have failed once', async () => {
        const all = await lanefold.webhooks.deliveries(name);
        return all.every((one) => one.error !== null) && all.length === 2 && all;
      });
      for (const one of failed) expect(one).toMatchObject({ status: 'pending', error, statusCode: code });
      if (name === 'fails') expect(failed[0]!.answer).toBe('overloaded');
      expect(receiver.at('/elsewhere')).toEqual([]);
      receiver.respond = answerWith(200);
      const deliveries = await settled(lanefold, name, 2);
      expect(deliveries.map(({ status }) => status)).toEqual(['delivered', 'delivered']);
      expect(new Set(at(name).map(({ event }) => event.data['run_id']))).toEqual(new Set(runs.map(({ id }) => id)));
      for (const { id, attempts } of deliveries)
        expect(at(name).filter(({ headers }) => headers['webhook-id'] === id).length).toBe(attempts);
      expect(await lanefold.webhooks.get(name)).toMatchObject({ failures: 0, failingSince: null });
    },
  );

  test('comes no earlier than the receiver asks with Retry-After', async () => {
    await set('later');
    receiver.respond = (_, response) => void response.writeHead(503, { 'retry-after': '1800' }).end();
    await endedRun(lanefold);
    const failed = await until('it has failed', async () => {
      const [one] = await lanefold.webhooks.deliveries('later');
      return one?.error && one;
    });
    // without it, the second attempt comes after 4 to 6 s
    expect(failed.nextAt!.getTime() - failed.createdAt.getTime()).toBeGreaterThanOrEqual(1_800_000);
  });

  test('gets an event whose worker has died before it recorded its attempt', async () => {
    await set('lost');
    await lanefold.webhooks.pause('lost');
    await endedRun(lanefold);
    await until('a worker has taken the event', async () => (await outbox()) === 0);
    // as if a worker had begun an attempt
    await lanefold.database.pool.query(
      `update lanefold._webhook_delivery set attempts = 1, in_flight = true, next_at = now() + interval '30 seconds'
       where webhook_id = (select id from lanefold._webhook where name = 'lost')`,
    );
    await lanefold.webhooks.resume('lost');
    expect(await lanefold.webhooks.deliveries('lost')).toMatchObject([{ status: 'pending', attempts: 1 }]);
    expect(at('lost')).toEqual([]);
    await passTime(lanefold);
    expect(await settled(lanefold, 'lost', 1)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
  });

  test('that hangs does not keep others waiting', async () => {
    await set('hanging');
    await set('healthy');
    receiver.respond = (request, response) => {
      if (request.path === '/healthy') response.writeHead(200).end();
    };
    for (let i = 0; i < 30; i++) await endedRun(lanefold);
    const healthy = await until('the healthy one has got all', async () => {
      const all = await lanefold.webhooks.deliveries('healthy');
      return all.length === 30 && all.every(({ status }) => status === 'delivered') && all;
    });
    expect(healthy.map(({ attempts }) => attempts)).toEqual(Array(30).fill(1));
    expect((await lanefold.webhooks.deliveries('hanging')).every(({ status }) => status === 'pending')).toBe(true);
  });

  test('fails for good after its last attempt, and can be sent again', async () => {
    await set('last');
    receiver.respond = answerWith(500);
    const { id: runId } = await endedRun(lanefold);
    const [delivery] = await settled(lanefold, 'last', 1);
    expect(delivery).toMatchObject({ status: 'failed', attempts: 11, error: { code: 'status' } });
    receiver.respond = answerWith(200);
    expect(await lanefold.webhooks.redeliver('last', { id: delivery!.id })).toEqual({ redelivered: 1 });
    expect(await settled(lanefold, 'last', 1)).toMatchObject([{ id: delivery!.id, status: 'delivered', attempts: 12 }]);
    expect(new Set(at('last').map(({ event }) => event.data['run_id']))).toEqual(new Set([runId]));
  });

  test('sends all failed deliveries again', async () => {
    await set('again');
    for (let i = 0; i < 3; i++) await endedRun(lanefold);
    await settled(lanefold, 'again', 3);
    const since = new Date(Date.now() - 3_600_000);
    expect(await lanefold.webhooks.redeliver('again', { since })).toEqual({ redelivered: 0 });
    await lanefold.database.pool.query("update lanefold._webhook_delivery set status = 'failed'");
    expect(await lanefold.webhooks.redeliver('again', { since })).toEqual({ redelivered: 3 });
    await settled(lanefold, 'again', 3);
    expect(at('again')).toHaveLength(6);
    expect(new Set(at('again').map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });

  test('gets the events of a thread in order, if it wants', async () => {
    await set('ordered', { ordered: true, types: ['run.completed'] });
    receiver.respond = answerWith(500);
    const runs = [];
    for (let i = 0; i < 4; i++) runs.push(await endedRun(lanefold, 'diary'));
    await until('the first has failed', () => at('ordered').length > 0);
    const waiting = await lanefold.webhooks.deliveries('ordered');
    expect(waiting.map(({ attempts }) => attempts > 0)).toEqual([false, false, false, true]);
    receiver.respond = answerWith(200);
    await passTime(lanefold);
    await settled(lanefold, 'ordered', 4);
    const first = runs.map(({ id }) => at('ordered').findLastIndex(({ event }) => event.data['run_id'] === id));
    expect(first).toEqual(first.toSorted((a, b) => a - b));
  });

  test('signs with both secrets while the older one is still valid', async () => {
    const { secret } = await set('rotates');
    const { secret: newer } = await lanefold.webhooks.rotate('rotates', { keepMs: 3_600_000 });
    await endedRun(lanefold);
    await settled(lanefold, 'rotates', 1);
    for (const one of [secret, newer]) expect(verify(one, at('rotates')[0]!)).toBeTruthy();
    const { secret: newest } = await lanefold.webhooks.rotate('rotates', { keepMs: 0 });
    await lanefold.webhooks.test('rotates');
    await settled(lanefold, 'rotates', 2);
    expect(verify(newest, at('rotates')[1]!)).toMatchObject({ type: 'webhook.test' });
    for (const one of [secret, newer]) expect(() => verify(one, at('rotates')[1]!)).toThrow('No matching signature');
  });

  test('keeps events while it is paused', async () => {
    await set('pauses');
    await lanefold.webhooks.pause('pauses');
    const { id } = await endedRun(lanefold);
    expect(await lanefold.webhooks.deliveries('pauses')).toMatchObject([{ status: 'pending', attempts: 0 }]);
    await lanefold.webhooks.resume('pauses');
    await settled(lanefold, 'pauses', 1);
    expect(at('pauses')[0]!.event.data).toMatchObject({ run_id: id });
  });

  test('is paused if it is gone, or has failed often and long', async () => {
    await set('gone');
    receiver.respond = answerWith(410);
    await endedRun(lanefold);
    const paused = () =>
      until('it is paused', async () => {
        const [webhook] = await lanefold.webhooks.list();
        return webhook!.pausedAt !== null && webhook;
      });
    expect(await paused()).toMatchObject({ pausedReason: 'gone', failures: 1 });
    receiver.respond = answerWith(500);
    await lanefold.webhooks.resume('gone');
    await lanefold.database.pool.query(
      "update lanefold._webhook set failures = 19, failing_since = now() - interval '73 hours' where name = 'gone'",
    );
    await passTime(lanefold);
    const failing = await paused();
    expect(failing).toMatchObject({ pausedReason: 'failures', failures: 20 });
    // the same receiver has still failed; what failed was not another one
    const { url, types } = failing;
    const changed = await lanefold.webhooks.set('gone', { url, types, includeResult: true });
    expect(changed).toMatchObject({ failures: 20, failingSince: failing.failingSince });
    const moved = await lanefold.webhooks.set('gone', { url: `${url}?moved`, types, includeResult: true });
    expect(moved).toMatchObject({ failures: 0, failingSince: null });
    const { rows } = await lanefold.database.pool.query(
      "select detail -> 'gone' as gone from lanefold.audit where action = 'webhooks.pause' and actor = 'lanefold' order by at",
    );
    expect(rows).toEqual([{ gone: true }, { gone: false }]);
    receiver.respond = answerWith(200);
    await lanefold.webhooks.resume('gone');
    expect(await settled(lanefold, 'gone', 1)).toMatchObject([{ status: 'delivered' }]);
  });

  test('forgets the deliveries of an erased thread', async () => {
    await set('erased');
    await lanefold.webhooks.pause('erased');
    await endedRun(lanefold, 'secret');
    await lanefold.threads.erase('secret');
    expect(await lanefold.webhooks.deliveries('erased')).toEqual([]);
  });

  test('that is removed is told nothing more, and its deliveries are deleted', async () => {
    await set('removed');
    await lanefold.webhooks.pause('removed');
    await endedRun(lanefold);
    await lanefold.webhooks.remove('removed');
    await expect(lanefold.webhooks.deliveries('removed')).rejects.toMatchObject({ code: 'webhook_not_found' });
    await set('removed');
    expect(await lanefold.webhooks.deliveries('removed')).toEqual([]);
    expect(at('removed')).toEqual([]);
  });
});

function redirect(response: ServerResponse): void {
  response.writeHead(307, { location: '/elsewhere' }).end();
}

function die(response: ServerResponse): void {
  response.destroy();
}

test('each event is sent once while nothing fails, however many workers there are', async () => {
  const receiver = await startReceiver();
  const agents = [defineAgent({ name: 'echo', model: 'scripted:echo' })];
  const lanefold = await startLanefold({ privateWebhooks: true, agents });
  const other = await createLanefold(lanefold.options);
  // an answer that comes late, because the machine is busy, is no failure
  for (const one of [lanefold, other]) await one.startWorker({ webhookTimeoutMs: 60_000, sweepMs: 50 });
  await lanefold.webhooks.set('once', { url: `${receiver.url}/once` });
  const runs = await Promise.all(Array.from({ length: 40 }, () => endedRun(lanefold)));
  const deliveries = await settled(lanefold, 'once', 40);
  expect(deliveries.map(({ attempts }) => attempts)).toEqual(Array(40).fill(1));
  const told = receiver.at('/once').map(({ event }) => event.data['run_id']);
  expect(told.toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
  await other.close();
  await lanefold.close();
  await receiver.close();
});

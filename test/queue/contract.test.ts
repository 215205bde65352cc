// @module-tag slow
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import {
  jobId,
  type RunJob,
  type BullQueue,
  type Processor,
  type QueueOptions,
  type RunQueue,
} from '../../src/runs/queue/queue.ts';
import { openQueue } from '../../src/runs/queue/open-queue.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { noRedis, queueBackend } from '../support/lanefold.ts';
import { startOutage } from '../support/outage.ts';
import { deferred, until } from '../support/until.ts';

const day = 86_400_000;
const done = { status: 'completed' };

/** What `RunQueue` promises, on the backend of this project. */
describe.skipIf(noRedis())('a queue of runs', () => {
  let database: TestDatabase;
  beforeAll(async () => void (database = await createDatabase()));
  afterAll(() => database?.drop());

  const isRedis = queueBackend() === 'redis';
  const service = () => (isRedis ? inject('redisUrl')! : database.url);
  const newPrefix = () => `t${randomBytes(4).toString('hex')}`;

  /** A queue that is closed after the test, whose server is reached at `url`. */
  function open(options: Partial<QueueOptions> = {}, url = service()): RunQueue {
    const servers = isRedis ? { redisUrl: url, databaseUrl: database.url } : { databaseUrl: url };
    const queue = openQueue({ ...servers, prefix: newPrefix(), ...options });
    onTestFinished(() => queue.close());
    return queue;
  }

  const job = (id: string, more = {}) => ({
    thread_id: 't',
    run_id: id,
    enqueue_no: 1,
    agent: 'a',
    queue_shard: 0,
    ...more,
  });

  /** Holds up jobs, at most until the end of the test: their queue is closed only after them. */
  function newGate() {
    const gate = deferred();
    onTestFinished(() => gate.resolve());
    return gate;
  }

  const settings = { concurrency: 1, name: 'w', lockMs: 60_000, stalledMs: 50, onError: () => {} };

  /** Processes a queue's jobs; the runs in the order in which they were taken. */
  async function takes(queue: RunQueue, processor: Processor = async () => done, more: object = {}, agent?: string) {
    const taken: string[] = [];
    const process: Processor = (one, ...rest) => {
      taken.push(one.data.run_id);
      return processor(one, ...rest);
    };
    await queue.work(process, { ...settings, ...more }, agent);
    return taken;
  }

  const countsOf = (queue: BullQueue) =>
    queue.getJobCounts('waiting', 'prioritized', 'delayed', 'active', 'completed', 'failed');
  const ended = (queue: RunQueue, count: number) =>
    until(`${count} jobs have ended`, async () => {
      const counts = await Promise.all(queue.queues.map((one) => one.getJobCounts('completed', 'failed')));
      return counts.reduce((sum, { completed = 0, failed = 0 }) => sum + completed + failed, 0) === count;
    });

  describe('adds', () => {
    test('a job once, however often, singly and among others', async () => {
      const queue = open();
      await Promise.all([queue.add(job('r'), 0), queue.add(job('r'), 0)]);
      await queue.addAll([job('r'), job('s'), job('s'), job('r', { enqueue_no: 2 })], 'back');
      const taken = await takes(queue);
      await ended(queue, 3);
      await queue.add(job('r'), 0);
      await queue.add(job('last'), 0);
      await ended(queue, 4);
      expect(taken).toEqual(['r', 's', 'r', 'last']);
    });

    test('nothing to a job but which run to claim', async () => {
      const queue = open();
      await queue.addAll([job('r', { priority: 3, secret: 'x' })], 'back');
      const [own] = await queue.queues[0]!.getJobs(['prioritized']);
      expect([own!.id, own!.data]).toEqual(['r.1', { thread_id: 't', run_id: 'r', enqueue_no: 1, agent: 'a' }]);
    });

    test('in the order given: at the front ahead of all, at the back by priority and then by age', async () => {
      const queue = open();
      await queue.addAll([job('a'), job('p2', { priority: 2 }), job('p1', { priority: 1 })], 'back');
      await queue.addAll([job('b'), job('q1', { priority: 1 })], 'back');
      await queue.addAll([job('f1', { priority: 9 }), job('f2'), job('f3')], 'front');
      await queue.addAll([job('g1'), job('g2')], 'front');
      const taken = await takes(queue);
      await ended(queue, 10);
      expect(taken).toEqual(['g1', 'g2', 'f1', 'f2', 'f3', 'a', 'b', 'p1', 'q1', 'p2']);
    });

    test('more than fit into one round trip, in their order at both ends', async () => {
      const queue = open();
      const ids = (kind: string) => Array.from({ length: 502 }, (_, n) => `${kind}${n}`);
      const jobsOf = (kind: string) => ids(kind).map((id) => job(id));
      await queue.addAll(jobsOf('back'), 'back');
      await queue.addAll(jobsOf('front'), 'front');
      const waiting = await queue.queues[0]!.getJobs(['waiting'], 0, -1, true);
      expect(waiting.map((one) => (one.data as RunJob).run_id)).toEqual([...ids('front'), ...ids('back')]);
    });

    test('a delayed job, which is taken when its delay has ended', async () => {
      const queue = open();
      await queue.addAll([job('late', { delay_ms: day }), job('soon', { delay_ms: 1 })], 'back');
      const taken = await takes(queue);
      await ended(queue, 1);
      expect(taken).toEqual(['soon']);
      expect(await countsOf(queue.queues[0]!)).toMatchObject({ delayed: 1 });
    });
  });

  test('has a queue for each shard and each agent queue, also of runs from a time with more shards', async () => {
    const queue = open({ shards: 2 });
    const { prefix } = queue;
    expect(queue.queues.map(({ name }) => name)).toEqual([`${prefix}-0`, `${prefix}-1`]);
    const placed = [0, 1, 5].map((queue_shard) => queue.queueOf(job('r', { queue_shard })));
    expect(placed.map((one) => queue.queues.indexOf(one))).toEqual([0, 1, 1]);
    const own = queue.queueOf(job('r', { queue_shard: 1, agent_queue: 'a' }));
    expect([own.name, own === queue.queueOf(job('s', { agent_queue: 'a' }))]).toEqual([`${prefix}-agent-a`, true]);
    const names = [`${prefix}-0`, `${prefix}-1`, `${prefix}-agent-a`, `${prefix}-agent-unknown`];
    expect(names.filter((name) => !queue.reaches(name))).toEqual([]);
    const others = [`${prefix}-2`, 'other-0', 'other-agent-a', prefix, `${prefix}-0-agent-a`];
    expect(others.filter((name) => queue.reaches(name))).toEqual([]);
  });

  test('gives the jobs of an agent queue to its workers, and those of all shards to the others', async () => {
    const queue = open({ shards: 2 });
    const placed = [{ agent_queue: 'a' }, { queue_shard: 1 }, { queue_shard: 5 }, {}];
    const jobs = placed.map((more, n) => job(`r${n}`, more));
    await queue.addAll(jobs, 'back');
    const common = await takes(queue);
    await ended(queue, 3);
    expect(common.sort()).toEqual(['r1', 'r2', 'r3']);
    const own = await takes(queue, undefined, {}, 'a');
    await until('the last job has been taken', () => own.length === 1);
    expect(own).toEqual(['r0']);
  });

  describe('wakes', () => {
    test('a delayed job, and adds one that is gone', async () => {
      const queue = open();
      const { name } = queue.queues[0]!;
      await queue.addAll([job('late', { delay_ms: day })], 'back');
      for (const id of ['late', 'gone']) await queue.wake({ ...job(id), queue: name });
      for (const id of ['late', 'gone']) await queue.wake({ ...job(id), queue: name });
      await queue.wake({ ...job('own'), queue: `${queue.prefix}-agent-a` });
      const taken = await takes(queue);
      await ended(queue, 2);
      expect(taken.sort()).toEqual(['gone', 'late']);
      expect(await countsOf(queue.queueOf(job('own', { agent_queue: 'a' })))).toMatchObject({ waiting: 1 });
    });

    test('no job that is at work, and none of another fleet', async () => {
      const queue = open();
      const other = open();
      const gate = newGate();
      const taken = await takes(queue, async () => gate.promise.then(() => done));
      await queue.add(job('r'), 0);
      await until('it is at work', () => taken.length === 1);
      await queue.wake({ ...job('r'), queue: queue.queues[0]!.name });
      await queue.wake({ ...job('foreign'), queue: other.queues[0]!.name });
      gate.resolve();
      await ended(queue, 1);
      expect(await countsOf(queue.queues[0]!)).toMatchObject({ completed: 1, waiting: 0 });
      expect(await countsOf(other.queues[0]!)).toMatchObject({ waiting: 0 });
    });
  });

  describe('at work', () => {
    test('processes as many jobs at a time as its worker may, each once', async () => {
      const queue = open();
      const gates = Array.from({ length: 4 }, newGate);
      const taken = await takes(queue, ({ data }) => gates[Number(data.run_id)]!.promise.then(() => done), {
        concurrency: 3,
      });
      await queue.addAll(
        gates.map((_, n) => job(`${n}`)),
        'back',
      );
      await until('three are at work', () => taken.length === 3);
      expect(await countsOf(queue.queues[0]!)).toMatchObject({ active: 3, waiting: 1 });
      gates[1]!.resolve();
      await until('the last one follows', () => taken.length === 4);
      for (const gate of gates) gate.resolve();
      await ended(queue, 4);
      expect(taken).toEqual(['0', '1', '2', '3']);
    });

    test('keeps what a processor returns or throws, and repeats no job that failed', async () => {
      const queue = open();
      await queue.addAll([job('bad'), job('good')], 'back');
      const taken = await takes(queue, async ({ data }) => {
        if (data.run_id === 'bad') throw new Error('no such agent');
        return { ...done, tokens: 7 };
      });
      await ended(queue, 2);
      const [bad, good] = await Promise.all(['bad.1', 'good.1'].map((id) => queue.queues[0]!.getJob(id)));
      expect(await Promise.all([bad!.getState(), good!.getState()])).toEqual(['failed', 'completed']);
      expect([bad!.failedReason, good!.returnvalue]).toEqual(['no such agent', { ...done, tokens: 7 }]);
      expect(taken).toEqual(['bad', 'good']);
    });

    test('is closed once its jobs have ended, and takes no other', async () => {
      const queue = open();
      const watcher = open({ prefix: queue.prefix });
      const gate = newGate();
      const taken = await takes(queue, () => gate.promise.then(() => done));
      await queue.addAll([job('r'), job('s')], 'back');
      await until('the first is at work', () => taken.length === 1);
      const order: string[] = [];
      const closed = queue.close().then(() => order.push('closed'));
      // more than enough round trips for a worker that does not wait
      expect(await countsOf(watcher.queues[0]!)).toMatchObject({ active: 1, waiting: 1 });
      order.push('released');
      gate.resolve();
      await closed;
      expect(order).toEqual(['released', 'closed']);
      expect(await countsOf(watcher.queues[0]!)).toMatchObject({ completed: 1, waiting: 1, active: 0 });
      expect(taken).toEqual(['r']);
    });

    test('gives a job whose worker was lost to another one, and keeps the result of that', async () => {
      const outage = await startOutage(service());
      onTestFinished(() => outage.close());
      const lost = open({}, outage.url);
      const gate = newGate();
      const held = await takes(lost, () => gate.promise.then(() => ({ ...done, tokens: 1 })), { lockMs: 100 });
      await lost.add(job('r'), 0);
      await until('it is at work', () => held.length === 1);
      outage.begin();
      // A lock ends by the clock of the queue. The first check after that notes what is active, a later one moves it.
      const taken: string[][] = [];
      for (const days of [1, 2]) {
        const queue = open({ prefix: lost.prefix, clock: { now: () => Date.now() + days * day } });
        taken.push(await takes(queue, async () => ({ ...done, tokens: 2 })));
      }
      await until('another one has it', () => taken.flat().length === 1);
      const [own] = open({ prefix: lost.prefix }).queues;
      await until('it has ended', async () => (await own!.getJobCounts('completed')).completed === 1);
      outage.end();
      gate.resolve();
      // after the lost worker has tried to end the job as well
      await lost.close();
      expect((await own!.getJob('r.1'))!.returnvalue).toMatchObject({ tokens: 2 });
      expect(taken.flat()).toEqual(['r']);
    });
  });

  test('removes jobs with their logs, earlier ones of the same run and those in queues of its agent', async () => {
    const queue = open({ shards: 2 });
    const r = { thread_id: 't', run_id: 'r', agent: 'a', queue_shard: 1 };
    const own = [
      { ...r, enqueue_no: 1 },
      { ...r, enqueue_no: 2, delay_ms: day },
      { ...r, enqueue_no: 3, agent_queue: 'a' },
      { ...r, enqueue_no: 4, agent_queue: 'a+react' },
    ];
    const others = [job('s', { queue_shard: 1 }), job('u', { queue_shard: 1, agent_queue: 'ab' })];
    await queue.addAll([...own, ...others], 'back');
    const jobs = await Promise.all(own.map((one) => queue.queueOf(one).getJob(jobId(one))));
    for (const one of jobs) await one!.log('begun');
    expect(await queue.remove([{ ...r, enqueue_no: 4 }])).toBe(4);
    for (const one of own) {
      expect(await queue.queueOf(one).getJob(jobId(one))).toBeUndefined();
      expect(await queue.queueOf(one).getJobLogs(jobId(one))).toEqual({ logs: [], count: 0 });
    }
    expect(await queue.remove([{ ...r, enqueue_no: 4 }])).toBe(0);
    for (const one of others) expect(await queue.queueOf(one).getJob(jobId(one))).toBeDefined();
  });

  test('is obliterated with all its jobs, and works as before afterwards', async () => {
    const queue = open({ shards: 2 });
    const other = open();
    await other.add(job('r'), 0);
    await queue.addAll(
      [{}, { queue_shard: 1, delay_ms: day }, { agent_queue: 'a' }].map((more, n) => job(`r${n}`, more)),
      'back',
    );
    const queues = [...queue.queues, queue.queueOf(job('r', { agent_queue: 'a' }))];
    await queue.obliterate();
    for (const one of queues) expect(await one.count()).toBe(0);
    expect(await other.queues[0]!.count()).toBe(1);
    const taken = await takes(queue);
    await queue.add(job('r0'), 0);
    await ended(queue, 1);
    expect(taken).toEqual(['r0']);
  });
});

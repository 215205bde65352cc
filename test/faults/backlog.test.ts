// @module-tag long
import { defineAgent, defineTool, type RunHandle, type RunningWorker } from 'lanefold';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { openQueue } from '../../src/runs/queue/open-queue.ts';
import type { RunQueue } from '../../src/runs/queue/queue.ts';
import { sweep, type SweepOptions } from '../../src/worker/process/sweep.ts';
import { fakeModel } from '../support/fake-model.ts';
import { noRedis, queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { deferred, until } from '../support/until.ts';
import { patient } from './harness.ts';

const sign = defineTool({ name: 'sign', input: { type: 'object' }, needsApproval: true, execute: () => 'signed' });

describe.skipIf(noRedis())('a backlog', () => {
  let lanefold: TestLanefold;
  let db: Database;
  let queue: RunQueue;
  /** User messages of the model calls, in order. */
  let asked: string[];
  /** A call waits for the gate named like its user message, where there is one. */
  let gates: Map<string, ReturnType<typeof deferred<void>>>;
  beforeEach(async () => {
    asked = [];
    gates = new Map();
    const model = fakeModel(async ({ prompt, abortSignal }) => {
      const users = prompt.flatMap((message) => (message.role === 'user' ? message.content : []));
      const text = users.flatMap((part) => (part.type === 'text' ? part.text : [])).at(-1)!;
      asked.push(text);
      const left = new Promise<never>((_, reject) =>
        abortSignal?.addEventListener('abort', () => reject(abortSignal.reason as Error)),
      );
      left.catch(() => {});
      await Promise.race([gates.get(text)?.promise, left].slice(0, gates.has(text) ? 2 : 1));
      const signs = text === 'sign' && prompt.at(-1)!.role === 'user';
      return signs ? { calls: [{ name: 'sign' }] } : { text: 'done' };
    });
    lanefold = await startLanefold({
      agents: [defineAgent({ name: 'a', model: 'fake', tools: [sign] })],
      models: { fake: model },
      tokenSecrets: ['secret'],
    });
    db = openDatabase({ url: lanefold.databaseUrl });
    queue = openQueue({
      redisUrl: lanefold.options.redisUrl ?? undefined,
      databaseUrl: lanefold.databaseUrl,
      prefix: lanefold.options.queuePrefix!,
    });
    await queue.ready();
  });
  afterEach(async () => {
    for (const gate of gates?.values() ?? []) gate.resolve();
    await lanefold?.close();
    await queue?.close();
    await db?.close();
  });

  const enqueue = (input: string, more = {}) => lanefold.runs.enqueue({ agent: 'a', input, ...more });
  const backlog = async (...inputs: string[]) => {
    for (const input of inputs) await enqueue(input);
  };
  const gate = (text: string) => {
    gates.set(text, deferred());
    return gates.get(text)!;
  };
  /** Starts a worker that runs one at a time, and is busy with the run `busy` until that gate opens. */
  const startBusy = async (options = patient): Promise<RunningWorker> => {
    gate('busy');
    const worker = await lanefold.startWorker({ ...options, concurrency: 1 });
    await enqueue('busy');
    await until('the worker is busy', () => asked.includes('busy'));
    return worker;
  };
  const order = (count: number) => until('the runs have started', () => asked.length >= count && asked.slice(0, count));
  /** Leaves a run as a crashed worker does: claimed, with an expired lease and no job. */
  const abandon = async ({ threadId, id }: Pick<RunHandle, 'threadId' | 'id'>) => {
    await (await queue.queues[0]!.getJob(`${id}.1`))!.remove();
    await claimAndDie({ threadId, id });
  };
  const claimAndDie = ({ threadId, id }: Pick<RunHandle, 'threadId' | 'id'>) =>
    db.pool.query('select lanefold.claim_run($1, $2, 1, $3)', [
      threadId,
      id,
      {
        worker_id: 'dead',
        lease_ms: -1_000,
        prompt: null,
        config_fingerprint: '',
        max_claims_without_progress: 5,
        alone: true,
        strategies: ['react'],
      },
    ]);
  const backDate = (run: RunHandle, by = '1 hour') =>
    db.pool.query('update lanefold._run set enqueued_at = now() - $2::interval where thread_id = $1', [
      run.threadId,
      by,
    ]);
  /** As after the clock went back: a sweep that looked just now finds it at once, and an older one up to 15 s later. */
  const enqueuedLater = (run: RunHandle) => backDate(run, '-1 hour');
  /** The job is added after its row is written. */
  const foundBySweep = (run: RunHandle) =>
    until('a sweep has given the run another job', async () => await queue.queues[0]!.getJob(`${run.id}.2`));
  const limits: SweepOptions = {
    graceMs: 0,
    cancelGraceMs: 0,
    adoptable: [],
    known: { agents: [], strategies: [], versions: [], tools: [] },
    onError: (error) => expect.fail(String(error)),
    onExpired: () => {},
  };

  test('lets a run whose worker died continue before it', async () => {
    await startBusy();
    const dead = await enqueue('dead');
    await backlog('1', '2', '3');
    await abandon(dead);
    await enqueuedLater(dead);
    await foundBySweep(dead);
    gates.get('busy')!.resolve();
    expect(await order(5)).toEqual(['busy', 'dead', '1', '2', '3']);
  });

  test.skipIf(queueBackend() === 'redis')(
    'lets a run continue before it whose stalled job BullMQ put behind it',
    async () => {
      await startBusy();
      await backlog('1', '2', '3');
      const dead = await enqueue('dead');
      await claimAndDie(dead);
      await db.pool.query('update bullmq.job set stalled_count = 1 where id = $1', [`${dead.id}.1`]);
      await enqueuedLater(dead);
      await foundBySweep(dead);
      gates.get('busy')!.resolve();
      expect(await order(5)).toEqual(['busy', 'dead', '1', '2', '3']);
    },
  );

  test('lets a run that a worker releases continue before it', async () => {
    const worker = await startBusy();
    await backlog('1', '2', '3');
    expect(await worker.stop({ graceMs: 0 })).toEqual({ released: 1 });
    gates.get('busy')!.resolve();
    await lanefold.startWorker({ ...patient, concurrency: 1 });
    expect(await order(5)).toEqual(['busy', 'busy', '1', '2', '3']);
  });

  test('lets a run continue before it once its calls are decided', async () => {
    const worker = await lanefold.startWorker({ ...patient, concurrency: 1 });
    const signing = await enqueue('sign');
    await until('the run waits for approval', async () => (await lanefold.runs.get(signing)).status === 'suspended');
    await worker.stop();
    await startBusy();
    await backlog('1', '2', '3');
    await lanefold.runs.approve(signing, '1.0');
    gates.get('busy')!.resolve();
    expect(await order(6)).toEqual(['sign', 'busy', 'sign', '1', '2', '3']);
  });

  test('lets a run whose approval expired continue before it', async () => {
    const worker = await lanefold.startWorker({ ...patient, concurrency: 1 });
    const signing = await enqueue('sign');
    await until('the run waits for approval', async () => (await lanefold.runs.get(signing)).status === 'suspended');
    await worker.stop();
    await startBusy({ ...patient, sweepMs: 3_600_000 });
    await backlog('1', '2', '3');
    await db.pool.query("update lanefold._run set suspended_until = now() - interval '1 s' where thread_id = $1", [
      signing.threadId,
    ]);
    await db.pool.query("update lanefold._wait set until = now() - interval '1 s' where thread_id = $1", [
      signing.threadId,
    ]);
    expect(await sweep(db, queue, limits)).toBe(1);
    gates.get('busy')!.resolve();
    expect(await order(6)).toEqual(['sign', 'busy', 'sign', '1', '2', '3']);
  });

  test('lets a run resumed from a token continue before it', async () => {
    await startBusy({ ...patient, sweepMs: 3_600_000 });
    const dead = await enqueue('dead');
    await backlog('1', '2', '3');
    await abandon(dead);
    await backDate(dead);
    const { token } = await lanefold.runs.checkpoint(dead);
    await lanefold.runs.resume(token);
    gates.get('busy')!.resolve();
    expect(await order(5)).toEqual(['busy', 'dead', '1', '2', '3']);
  });

  test('is not overtaken by the next run of a thread: a busy thread would keep its worker for ever', async () => {
    await startBusy();
    const { threadId } = await enqueue('first of the thread');
    await enqueue('second of the thread', { threadId, busy: 'wait' });
    await backlog('1', '2');
    gates.get('busy')!.resolve();
    expect(await order(5)).toEqual(['busy', 'first of the thread', '1', '2', 'second of the thread']);
  });

  test('of unknown jobs does not hide runs whose worker died: one sweep finds them all', async () => {
    const dead = await Promise.all(Array.from({ length: 120 }, (_, i) => enqueue(`dead ${i}`)));
    const queued = await Promise.all(Array.from({ length: 150 }, (_, i) => enqueue(`queued ${i}`)));
    for (const run of dead) await abandon(run);
    for (const run of queued) await backDate(run);
    expect(await sweep(db, queue, limits)).toBe(dead.length);
    const counts = await queue.queues[0]!.getJobCounts('waiting');
    expect(counts).toEqual({ waiting: dead.length + queued.length });
  });

  test('that the queue has lost is added again by one sweep, in order', async () => {
    const inputs = Array.from({ length: 1_200 }, (_, i) => `${i}`);
    await backlog(...inputs);
    await queue.queues[0]!.obliterate({ force: true });
    expect(await sweep(db, queue, limits)).toBe(inputs.length);
    expect(await queue.queues[0]!.getJobCounts('waiting')).toEqual({ waiting: inputs.length });
    await lanefold.startWorker({ ...patient, concurrency: 1 });
    expect(await order(20)).toEqual(inputs.slice(0, 20));
  });
});

// @module-tag long
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLanefold, type Lanefold, type LogFacts, type UnattendedRuns } from 'lanefold';

import { readStream } from '../support/read-stream.ts';
import { functionsIn } from '../support/statements.ts';
import { deferred, until } from '../support/until.ts';
import { parrot, patient, startHarness, type FaultHarness } from './harness.ts';

/** Reports every few seconds, and keeps its lease on a busy machine: it dies when the test dates its signs of life back. */
const mortal = { leaseMs: 9_000, sweepMs: 100 };

describe('a run that no worker can take', () => {
  let harness: FaultHarness;
  let others: Lanefold[];
  let logged: { facts: LogFacts; message: string }[];
  beforeEach(async () => {
    [others, logged] = [[], []];
    const ignore = () => {};
    const error = (facts: LogFacts, message: string) => void logged.push({ facts, message });
    harness = await startHarness({
      unattendedMs: 50,
      strategies: [parrot],
      logger: { debug: ignore, info: ignore, warn: ignore, error },
    });
    harness.callServer.respond = () => ({ text: 'Done.' });
  });
  afterEach(async () => {
    for (const other of others) await other.close();
    await harness?.close();
  });

  const go = (given: { strategy?: string } = {}) => harness.runs.enqueue({ agent: 'fault', input: 'go', ...given });
  const startLacking = async (lacks: 'agents' | 'strategies') => {
    const other = await createLanefold({ ...harness.options, [lacks]: [] });
    others.push(other);
    await other.startWorker(patient);
  };
  const said = () => {
    const heard: UnattendedRuns[] = [];
    return { heard, onUnattended: (unattended: UnattendedRuns) => void heard.push(unattended) };
  };
  /** The model says when it is asked, and answers when it is told to. */
  const holdAnswers = () => {
    const [asked, answer] = [deferred(), deferred()];
    harness.callServer.respond = async () => {
      asked.resolve();
      await answer.promise;
      return { text: 'Done.' };
    };
    return { asked, answer };
  };
  const stateOf = async (id: string) => (await harness.workers.list()).find((worker) => worker.id === id)?.state;
  const idOf = async () => until('a worker is listed', async () => (await harness.workers.list())[0]?.id);

  test('says so while it is waited for, on a stream and in its snapshot, until a worker starts', async () => {
    const run = await go();
    const { heard, onUnattended } = said();
    const ended = harness.runs.wait(run, { onUnattended });
    const stream = readStream(harness.runs.stream(run));
    const ofThread = new AbortController();
    const threads = readStream(harness.threads.stream(run.threadId, { signal: ofThread.signal }));
    await until('the wait says so', () => heard.length > 0);
    const expected = {
      reason: 'no_worker',
      message: `Run ${run.id} is waiting: no worker is alive to take it from the queue "${harness.options.queuePrefix}". Start one, for example with \`lanefold worker\`.`,
    };
    expect(heard).toEqual([{ threadId: run.threadId, runId: run.id, agent: 'fault', ...expected }]);
    await stream.has('unattended');
    await threads.has('unattended');
    expect(stream.items).toEqual([{ type: 'unattended', ...heard[0] }]);
    expect(threads.items).toEqual(stream.items);
    expect(await harness.runs.get(run)).toMatchObject({ status: 'queued', unattended: expected });
    await harness.startWorker(patient);
    expect(await ended).toMatchObject({ status: 'completed', result: 'Done.' });
    await stream.ended;
    ofThread.abort(new Error('enough'));
    await expect(threads.ended).rejects.toThrow('enough');
    expect(stream.kinds().filter((kind) => kind === 'unattended')).toHaveLength(1);
    expect(await harness.runs.get(run)).toMatchObject({ unattended: null });
    expect(logged).toEqual([]);
  });

  test('says so of each run of a thread on the same stream', async () => {
    const first = await go();
    const leave = new AbortController();
    const stream = readStream(harness.threads.stream(first.threadId, { signal: leave.signal }));
    await stream.has('unattended');
    const worker = await harness.startWorker(patient);
    await harness.runs.wait(first);
    await worker.stop();
    const second = await harness.runs.enqueue({ agent: 'fault', input: 'go', threadId: first.threadId });
    const told = () => stream.items.filter((item) => item.type === 'unattended');
    await until('it is said again', () => told().length === 2);
    expect(told()).toMatchObject([first, second].map(({ id }) => ({ runId: id, reason: 'no_worker' })));
    leave.abort(new Error('enough'));
    await expect(stream.ended).rejects.toThrow('enough');
  });

  test('is logged where nothing else listens', async () => {
    const run = await go();
    const ended = harness.runs.wait(run);
    await until('it is logged', () => logged.length > 0);
    expect(logged).toMatchObject([
      {
        facts: { component: 'runs', thread_id: run.threadId, run_id: run.id, reason: 'no_worker' },
        message: expect.stringContaining('no worker is alive') as string,
      },
    ]);
    await harness.startWorker(patient);
    await ended;
    expect(logged).toHaveLength(1);
  });

  test('says which agent and which strategy no live worker knows, each once', async () => {
    const { heard, onUnattended } = said();
    const run = await go({ strategy: 'parrot' });
    await startLacking('agents');
    const ended = harness.runs.wait(run, { onUnattended });
    await until('the wait names the agent', () => heard.length === 1);
    await startLacking('strategies');
    await until('the wait names the strategy', () => heard.length === 2);
    expect(heard.map(({ reason }) => reason)).toEqual(['unknown_agent', 'unknown_strategy']);
    expect(heard[0]!.message).toContain('no live worker knows its agent "fault"');
    expect(heard[1]!.message).toContain('no live worker that knows its agent "fault" knows its strategy "parrot"');
    await harness.startWorker(patient);
    expect(await ended).toMatchObject({ status: 'completed' });
    expect(heard).toHaveLength(2);
  });

  test('says so when the worker that holds it was killed, which is then listed as dead', async () => {
    const { asked } = holdAnswers();
    const child = await harness.spawnWorker({ worker: mortal });
    const id = await idOf();
    const run = await go();
    await asked.promise;
    const { heard, onUnattended } = said();
    const ended = harness.runs.wait(run, { onUnattended });
    await until('the worker is alive and says what it holds', async () => {
      const [{ state, runsHeld } = {}] = await harness.workers.list();
      return state === 'alive' && runsHeld === 1;
    });
    await until('it is counted', async () => (await harness.stats()).fleet.alive === 1);
    await child.kill();
    await harness.database.pool.query(`update lanefold._worker set heartbeat_at = heartbeat_at - interval '1 minute'`);
    await harness.expireLease(run.threadId);
    await until('the worker is dead', async () => (await stateOf(id)) === 'dead');
    await until('the wait says so', () => heard.length > 0);
    expect(heard).toMatchObject([{ runId: run.id, reason: 'no_worker' }]);
    expect(await harness.stats()).toMatchObject({ fleet: { alive: 0, draining: 0, dead: 1 } });
    harness.callServer.respond = () => ({ text: 'Done.' });
    await harness.startWorker(patient);
    expect(await ended).toMatchObject({ status: 'completed' });
    expect(await stateOf(id)).toBe('dead');
  });

  test('is not said of a run that a worker holds or that waits for its time', async () => {
    const { asked, answer } = holdAnswers();
    await harness.startWorker(patient);
    const held = await go();
    await asked.promise;
    const later = await harness.runs.enqueue({ agent: 'fault', input: 'go', delayMs: 3_600_000 });
    const { heard, onUnattended } = said();
    const waits = [held, later].map((run) => harness.runs.wait(run, { onUnattended }));
    const looks = countLooks();
    await until('they were looked at several times', () => looks() >= 3);
    expect(heard).toEqual([]);
    answer.resolve();
    expect(await waits[0]).toMatchObject({ status: 'completed' });
    await harness.runs.cancel(later);
    await waits[1];
  });

  test('a worker that stops is draining, takes no run, and has stopped at its end', async () => {
    const { asked, answer } = holdAnswers();
    const worker = await harness.startWorker(patient);
    const held = await go();
    await asked.promise;
    const stopped = worker.stop();
    await until('the worker is draining', async () => (await stateOf(worker.id)) === 'draining');
    const { heard, onUnattended } = said();
    const late = await go();
    const ended = harness.runs.wait(late, { onUnattended });
    await until('the wait says so', () => heard.length > 0);
    expect(heard).toMatchObject([{ runId: late.id, reason: 'no_worker' }]);
    answer.resolve();
    expect(await harness.runs.wait(held)).toMatchObject({ status: 'completed' });
    await stopped;
    const [row] = await harness.workers.list();
    expect(row).toMatchObject({ id: worker.id, state: 'stopped', runsHeld: 0, pid: process.pid });
    await harness.startWorker(patient);
    await ended;
  });
});

/** Counts from now on how often this process looks at waits in which nothing happens. */
function countLooks(): () => number {
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => sent.mockRestore());
  const names = () => sent.mock.calls.flatMap(([statement]) => functionsIn(statement));
  return () => names().filter((name) => name.startsWith('find_unheld')).length;
}

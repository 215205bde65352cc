// @module-tag long
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLanefold, type Lanefold, type RunHandle, type UnknownAgent, type WorkerOptions } from 'lanefold';

import { expectSound } from '../support/log.ts';
import { functionsIn } from '../support/statements.ts';
import { deferred, until } from '../support/until.ts';
import { parrot, quick, startHarness, type FaultHarness } from './harness.ts';

/** Nothing in these workers happens by a timer: what a run gets, it got from another worker at once. */
const noSweeps: WorkerOptions = { leaseMs: 120_000, sweepMs: 600_000 };

describe('a worker that does not know the agent of a run', () => {
  let harness: FaultHarness;
  let others: Lanefold[];
  beforeEach(async () => {
    others = [];
    harness = await startHarness({ strategies: [parrot] });
    harness.callServer.respond = () => ({ text: 'Done.' });
  });
  afterEach(async () => {
    for (const other of others) await other.close();
    await harness?.close();
  });

  const startIgnorant = async (options: WorkerOptions, lacks: 'agents' | 'strategies' = 'agents') => {
    const other = await createLanefold({ ...harness.options, [lacks]: [] });
    others.push(other);
    await other.startWorker(options);
  };
  const go = () => harness.runs.enqueue({ agent: 'fault', input: 'go' });
  const moved = (run: RunHandle) =>
    until('the worker has moved the run', async () => (await harness.runs.get(run)).agentUnknownSince);
  const anHourPasses = () =>
    harness.database.pool.query(
      "update lanefold._run set agent_unknown_since = now() - interval '1 hour' where agent_unknown_since is not null",
    );
  const completed = { status: 'completed', result: 'Done.', agentUnknownSince: null };

  test('moves it to one that does, without a sweep and by any clock', async () => {
    await harness.spawnWorker({ worker: noSweeps, ignorant: true, clockAheadMs: 3_600_000 });
    await harness.startWorker(noSweeps);
    for (let i = 0; i < 12; i++) expect(await harness.runs.wait(await go())).toMatchObject(completed);
  });

  test('leaves the concurrency of the other as it is', async () => {
    let [active, most] = [0, 0];
    const both = deferred();
    harness.callServer.respond = async () => {
      most = Math.max(most, (active += 1));
      if (active === 2) both.resolve();
      await both.promise;
      active -= 1;
      return { text: 'Done.' };
    };
    await startIgnorant(noSweeps);
    await harness.startWorker({ ...noSweeps, concurrency: 2 });
    const runs = await Promise.all(Array.from({ length: 30 }, go));
    for (const run of runs) expect(await harness.runs.wait(run)).toMatchObject(completed);
    expect(most).toBe(2);
    await expectSound(harness, runs[0]!.threadId);
  });

  test('moves a run whose strategy it does not know, before anything is written', async () => {
    await startIgnorant(noSweeps, 'strategies');
    await harness.startWorker({ ...noSweeps, concurrency: 1 });
    for (let i = 0; i < 12; i++) {
      const run = await harness.runs.enqueue({ agent: 'fault', input: 'go', strategy: 'parrot' });
      expect(await harness.runs.wait(run)).toMatchObject({ ...completed, unknownStrategy: null });
      expect((await harness.runs.events(run)).map(({ kind }) => kind)).not.toContain('llm_lost');
    }
  });

  test('says which strategy nobody knows, and ends its runs only after the time they were given', async () => {
    const seen: UnknownAgent[] = [];
    const report = (agent: UnknownAgent) => seen.push(agent);
    await startIgnorant(quick, 'agents');
    await startIgnorant({ ...quick, onUnknownAgent: report }, 'strategies');
    const run = await harness.runs.enqueue({ agent: 'fault', input: 'go', strategy: 'parrot' });
    await until('both workers have moved the run', async () => (await harness.runs.get(run)).unknownStrategy);
    await anHourPasses();
    await until('the worker has said so', () => seen.length > 0);
    expect(seen[0]).toMatchObject({ agent: 'fault', strategy: 'parrot', runs: 1 });
    await startIgnorant({ ...quick, unknownAgentMs: 3_540_000 }, 'strategies');
    expect(await harness.runs.wait(run)).toMatchObject({
      status: 'failed',
      error: { type: 'unknown_strategy', message: expect.stringContaining('parrot') as string },
    });
    await expectSound(harness, run.threadId);
  });

  test('says so, until one starts that does', async () => {
    const seen: UnknownAgent[] = [];
    await startIgnorant({ ...quick, onUnknownAgent: (agent) => seen.push(agent) });
    const run = await go();
    await moved(run);
    await anHourPasses();
    await until('the worker has said so', () => seen.length > 0);
    expect(seen[0]).toMatchObject({ agent: 'fault', runs: 1 });
    expect(seen[0]!.since.getTime()).toBeLessThan(Date.now() - 3_500_000);
    await harness.startWorker(noSweeps);
    expect(await harness.runs.wait(run)).toMatchObject(completed);
  });

  /** A worker with the agent works on one run, and others wait for it, moved by a worker that ends what waits for a minute. */
  const backlog = async () => {
    const [asked, answer] = [deferred(), deferred()];
    harness.callServer.respond = async () => {
      asked.resolve();
      await answer.promise;
      return { text: 'Done.' };
    };
    await harness.startWorker({ ...noSweeps, concurrency: 1 });
    const first = await go();
    await asked.promise;
    const seen: UnknownAgent[] = [];
    await startIgnorant({ ...quick, unknownAgentMs: 60_000, onUnknownAgent: (agent) => seen.push(agent) });
    const waiting = await Promise.all(Array.from({ length: 4 }, go));
    for (const run of waiting) await moved(run);
    return { answer, seen, runs: [first, ...waiting] };
  };
  const sweepsPass = async () => {
    const looks = countSweeps();
    await until('it has swept several times', () => looks() >= 4);
  };

  test('says so of an agent once, however many runs come to wait for it', async () => {
    const seen: UnknownAgent[] = [];
    await startIgnorant({ ...quick, onUnknownAgent: (agent) => seen.push(agent) });
    for (let i = 0; i < 3; i++) {
      await moved(await go());
      await anHourPasses();
      await sweepsPass();
    }
    expect(seen).toMatchObject([{ agent: 'fault', runs: 1 }]);
  });

  test('does not end it while one is alive that does, however long it works on others', async () => {
    const { answer, seen, runs } = await backlog();
    await anHourPasses();
    await sweepsPass();
    answer.resolve();
    for (const run of runs) expect(await harness.runs.wait(run)).toMatchObject(completed);
    expect(seen).toEqual([]);
  });

  test('does not end it because the database did not answer for an hour', async () => {
    const { answer, seen, runs } = await backlog();
    // one transaction, as if all had happened an hour earlier
    await harness.database.pool.query(
      `with workers as (update lanefold._worker set heartbeat_at = heartbeat_at - interval '1 hour')
       update lanefold._run set agent_unknown_since = now() - interval '1 hour' where agent_unknown_since is not null`,
    );
    await sweepsPass();
    expect(await harness.runs.get(runs[1]!)).toMatchObject({ status: 'queued' });
    answer.resolve();
    for (const run of runs) expect(await harness.runs.wait(run)).toMatchObject(completed);
    expect(seen).toEqual([]);
  });

  test('lets it be cancelled, and ends it only after the time it was given', async () => {
    await startIgnorant(quick);
    const [cancelled, late] = [await go(), await go()];
    await moved(cancelled);
    await moved(late);
    await anHourPasses();
    await harness.runs.cancel(cancelled);
    await startIgnorant({ ...quick, unknownAgentMs: 3_540_000 });
    expect(await harness.runs.wait(late)).toMatchObject({
      status: 'failed',
      error: { type: 'unknown_agent' },
    });
    expect(await harness.runs.wait(cancelled)).toMatchObject({ status: 'cancelled' });
    await expectSound(harness, late.threadId);
  });

  test('does not end one that a dead worker has left', async () => {
    const asked = deferred();
    harness.callServer.respond = async () => {
      asked.resolve();
      return new Promise(() => {});
    };
    const first = await harness.spawnWorker({ worker: quick });
    const run = await go();
    await asked.promise;
    await first.kill();
    harness.callServer.respond = () => ({ text: 'Done.' });
    await harness.expireLease(run.threadId);
    await startIgnorant(quick);
    await moved(run);
    await harness.startWorker(noSweeps);
    expect(await harness.runs.wait(run)).toMatchObject(completed);
    await expectSound(harness, run.threadId);
  });
});

/** Counts from now on how often workers of this process look for runs that were left. */
function countSweeps(): () => number {
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => sent.mockRestore());
  return () =>
    sent.mock.calls.flatMap(([statement]) => functionsIn(statement)).filter((name) => name === 'find_stranded_runs')
      .length;
}

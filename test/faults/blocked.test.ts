// @module-tag long
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startHarness, type FaultHarness } from './harness.ts';

/** Leases that run out while a tool computes: it does so for more than five of them, on the processor. */
const worker = { leaseMs: 2_000, sweepMs: 150, maxClaimsWithoutProgress: 1, concurrency: 2 };
const spinMs = 12_000;

describe('a run that keeps its workers busy beyond their leases', () => {
  let harness: FaultHarness;
  beforeEach(async () => {
    harness = await startHarness();
  });
  afterEach(() => harness?.close());

  test('fails as poisoned after one in company and one alone, although no other worker was there to see it', async () => {
    harness.callServer.respond = ({ kind, turn, threadId }) => {
      if (kind === 'tool') return { result: { spinMs } };
      return threadId === 'spins' && turn === 0 ? { calls: [{ id: 'c0', name: 'spin' }] } : { text: 'done' };
    };
    await Promise.all(['a', 'b'].map((name) => harness.spawnWorker({ name, worker })));
    const enqueue = (threadId: string) =>
      harness.runs.enqueue({ agent: 'fault', input: threadId, threadId, createThread: true });
    const spins = await enqueue('spins');
    const others = await Promise.all(['one', 'two', 'three'].map(enqueue));

    expect(await harness.runs.wait(spins)).toMatchObject({ status: 'failed', terminationReason: 'poisoned' });
    // the first claim committed the step that asks for the tool, so it is not one of them
    expect(harness.callServer.count('tool:spin')).toBe(3);
    for (const run of others)
      expect(await harness.runs.wait(run)).toMatchObject({ status: 'completed', result: 'done' });
    await expectSound(harness, 'spins');
  });
});

test('a worker that is stopped for longer than a lease reports that it was frozen', async () => {
  const harness = await startHarness();
  try {
    const child = await harness.spawnWorker({ worker });
    const { pool } = harness.database;
    const ask = async (question: string, ...values: unknown[]) => {
      const { rows } = await pool.query<{ answer: unknown }>(
        `select ${question} as answer from lanefold._worker w`,
        values,
      );
      return rows[0]!.answer;
    };
    child.process.kill('SIGSTOP');
    const stoppedAt = await ask('now()::text');
    // it has already sent what it is going to send, and misses the next lease
    await until('two leases have passed', () => ask(`now() > $1::timestamptz + interval '4 s'`, stoppedAt));
    child.process.kill('SIGCONT');
    const middle = `$1::timestamptz + interval '2 s'`;
    await until('it has reported the time', () => ask(`w.frozen @> (${middle}) or w.busy @> (${middle})`, stoppedAt));
    expect(await ask(`w.frozen @> (${middle})`, stoppedAt)).toBe(true);
  } finally {
    await harness.close();
  }
});

// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Run, RunHandle } from 'lanefold';

import { eventsOf, expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import type { Answer, ExternalCall } from './fixtures/call-server.ts';
import { crashAt, pointsOf, sampleOf } from './crash-points.ts';
import { patient, startHarness, type FaultHarness } from './harness.ts';
import { shapeAs } from './log-shape.ts';

/** Leases that expire only through `expireLease`, and cancellations that only a worker completes. */
const worker = { ...patient, cancelGraceMs: 600_000, concurrency: 200 };

describe('a worker killed before or after each write, model call and tool execution', () => {
  let harness: FaultHarness;
  const runs = new Map<string, RunHandle>();
  beforeAll(async () => {
    harness = await startHarness({ largeContentBytes: 4_096 });
    harness.callServer.respond = respond;
  });
  afterAll(() => harness?.close());

  /**
   * Three parallel tools, during which the user steers the run and replaces its context; then another tool, during
   * which the variant `cancel` is cancelled; then the answer, which the variant `output` has to repair.
   */
  async function respond(call: ExternalCall): Promise<Answer> {
    if (call.kind === 'verify') return null;
    if (call.repair) return { text: '{"done": true}' };
    if (call.kind === 'model') {
      if (call.userMessages === 1)
        return { calls: ['look', 'charge', 'send'].map((name, i) => ({ id: `c${i}`, name })) };
      return call.turn === 0 ? { calls: [{ id: 'c3', name: 'look' }] } : { text: 'All done.' };
    }
    const threadId = call.threadId!;
    const [, round, index] = call.key.split(':').map(Number);
    // what ends together shares a commit: each call of a round ends when the one before it is stored
    if (index! > 0) await storedCall(threadId, round!, index! - 1);
    if (call.key.endsWith(':1:0')) {
      await harness.runs.steer(threadId, 'and this', { inputId: 'steer' });
      await harness.contexts.replace(threadId, { entries: [] }, { opId: 'replace' });
    } else if (call.key.endsWith(':2:0') && threadId.startsWith('cancel')) {
      await harness.runs.cancel({ threadId, id: call.key.split(':')[0]! });
      return new Promise<never>(() => {});
    }
    // large enough to be kept out of the log
    return { result: `${call.name} done`.padEnd(5_000, '.') };
  }

  const storedCall = (threadId: string, round: number, index: number) =>
    until(`call ${index} of ${threadId} is stored`, async () => {
      const ledger = await ledgerOf(harness, threadId);
      return ledger.some((row) => row.round === round && row.call_index === index && row.result !== null);
    });

  const enqueue = async (threadId: string) => {
    const output = { schema: z.object({ done: z.boolean() }), description: `For thread ${threadId}` };
    const request = { agent: 'fault', input: threadId, threadId, createThread: true };
    runs.set(
      threadId,
      await harness.runs.enqueue({ ...request, ...(threadId.startsWith('output') ? { output } : {}) }),
    );
  };

  /** The log without what differs between threads, and without results of `charge`, whose outcome a crash may leave unknown. */
  const comparable = async (threadId: string) => {
    const entries = await shapeAs(harness, threadId);
    for (const { content, notes } of entries) {
      if (content['name'] !== 'charge') continue;
      content['content'] = 'masked';
      delete notes['contents'];
    }
    return entries;
  };

  /** How many large texts of each name a thread keeps; `charge` may have none. */
  const storedOf = async (threadId: string) =>
    harness.database.pool
      .query<{ name: string }>(
        "select split_part(text, ' ', 1) as name from lanefold.content where thread_id = $1 and text !~ '^charge' order by 1",
        [threadId],
      )
      .then(({ rows }) => rows);

  const variants = {
    answer: { status: 'completed', last: 'after commit_step 5' },
    output: { status: 'completed', last: 'after commit_step 6' },
    cancel: { status: 'cancelled', last: 'after finish_run 1' },
  };
  const names = Object.keys(variants) as (keyof typeof variants)[];
  const controlOf = (variant: string) => `${variant}-control`;
  const points = {} as Record<keyof typeof variants, string[]>;
  /** By thread. */
  const crashPoints: Record<string, string> = {};

  // one process is undisturbed, and one is killed with the runs of all variants
  beforeAll(async () => {
    const undisturbed = await harness.spawnWorker({ name: 'control', worker, crashPoints: {} });
    await Promise.all(names.map((variant) => enqueue(controlOf(variant))));
    for (const [nth, variant] of names.entries()) {
      const control = controlOf(variant);
      const { status, last } = variants[variant];
      expect((await harness.runs.wait(runs.get(control)!)).status).toBe(status);
      await until('the last point is printed', () => pointsOf(undisturbed, control).includes(last));
      points[variant] = pointsOf(undisturbed, control);
      expect(new Set(points[variant]).size).toBe(points[variant].length);
      expect(points[variant].length).toBeGreaterThan(25);
      for (const [i, point] of sampleOf(points[variant], nth).entries()) crashPoints[`${variant}-${i}`] = point;
    }
    await undisturbed.kill();
    await crashAt(harness, crashPoints, { worker, start: enqueue });
    await harness.startWorker(worker);
  });

  test.each(names)('leaves the same log as an undisturbed run: variant %s', async (variant) => {
    const control = controlOf(variant);
    const expected = await harness.runs.wait(runs.get(control)!);
    const log = await comparable(control);
    const lost = lostCalls(points[variant]);
    const crashed = Object.entries(crashPoints).filter(([threadId]) => threadId.startsWith(`${variant}-`));
    expect(crashed.length).toBeGreaterThan(10);
    for (const [threadId, point] of crashed) {
      const run = await harness.runs.wait(runs.get(threadId)!);
      expect(ends(run), point).toEqual(ends(expected));
      expect(await comparable(threadId), point).toEqual(log);
      const events = await eventsOf(harness, threadId);
      expect(events.filter((event) => event.kind === 'llm_lost').length, point).toBe(lost.get(point));
      const charges = harness.callServer.calls.filter((call) => call.threadId === threadId && call.name === 'charge');
      expect(charges.length, point).toBeLessThanOrEqual(1);
      await expectSound(harness, threadId);
      expect(await storedOf(threadId), point).toEqual(await storedOf(control));
    }
  });
});

const ends = ({ status, terminationReason, result, usage, iteration }: Run) => ({
  status,
  terminationReason,
  result,
  usage,
  iteration,
});

/** The number of model calls lost by a crash at each point: one between the commit that starts a call and the one that stores its answer. */
function lostCalls(points: string[]): Map<string, number> {
  let calling = 0;
  return new Map(
    points.map((point) => {
      if (point === 'after claim_run 1') calling = 1;
      const commit = /^after commit_step (\d)$/.exec(point)?.[1];
      if (commit) calling = commit === '2' || commit === '4' ? 1 : 0;
      return [point, calling];
    }),
  );
}

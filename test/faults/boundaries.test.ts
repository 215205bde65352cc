import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Run, RunHandle } from 'lanefold';
import { noRedis } from '../support/lanefold.ts';
import { eventsOf, expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import type { Answer, Visit } from './fixtures/outside.ts';
import { patient, startBench, type FaultBench } from './harness.ts';
import { shapeOf } from './normalise.ts';

/** Leases that run out when the test says so, and cancels that only a worker ends. */
const worker = { ...patient, cancelGraceMs: 600_000, concurrency: 200 };

describe.skipIf(noRedis())('a worker that is killed before or after each write, model call and tool', () => {
  let bench: FaultBench;
  const runs = new Map<string, RunHandle>();
  beforeAll(async () => {
    bench = await startBench();
    bench.outside.respond = respond;
  });
  afterAll(() => bench?.close());

  /**
   * Three tools at once, one of which has the user steer the run and replace its context; then one more tool, in which
   * a run of one variant is cancelled; then the answer, which does not fit the contract of another one and is repaired.
   */
  async function respond(visit: Visit): Promise<Answer> {
    if (visit.kind === 'verify') return null;
    if (visit.repair) return { text: '{"done": true}' };
    if (visit.kind === 'model') {
      if (visit.said === 1) return { calls: ['look', 'charge', 'send'].map((name, i) => ({ id: `c${i}`, name })) };
      return visit.turn === 0 ? { calls: [{ id: 'c3', name: 'look' }] } : { text: 'All done.' };
    }
    const threadId = visit.threadId!;
    if (visit.key.endsWith(':1:0')) {
      await bench.runs.steer(threadId, 'and this', { inputId: 'steer' });
      await bench.contexts.replace(threadId, { entries: [] }, { opId: 'anew' });
    } else if (visit.key.endsWith(':2:0') && threadId.startsWith('cancel')) {
      await bench.runs.cancel({ threadId, id: visit.key.split(':')[0]! });
      return new Promise<never>(() => {});
    }
    return { result: `${visit.name} done` };
  }

  const enqueue = async (threadId: string) => {
    const output = { schema: z.object({ done: z.boolean() }), description: `For thread ${threadId}` };
    const request = { agent: 'fault', input: threadId, threadId, createThread: true };
    runs.set(threadId, await bench.runs.enqueue({ ...request, ...(threadId.startsWith('output') ? { output } : {}) }));
  };

  /** The log without what differs from thread to thread, and without what only a tool that never runs twice may differ in. */
  const comparable = async (threadId: string) => {
    const entries = (await shapeOf(bench, threadId)) as {
      content: Record<string, unknown>;
      notes: Record<string, unknown>;
    }[];
    for (const { content, notes } of entries) {
      if (content['name'] === 'charge') content['content'] = 'masked';
      // hashes are checked against each thread's own log by expectSound; the contract has the thread's name in it
      delete notes['context_hash'];
      delete notes['output_hash'];
    }
    return JSON.parse(JSON.stringify(entries).replaceAll(threadId, 'THREAD')) as unknown[];
  };

  test.each([
    ['answer', 'completed', 'commit_step 5'],
    ['output', 'completed', 'commit_step 6'],
    ['cancel', 'cancelled', 'finish_run 1'],
  ])(
    'leaves the log of an undisturbed run: variant %s',
    async (variant, status, last) => {
      const control = `${variant}-control`;
      const undisturbed = await bench.child({ name: control, worker, parkAt: {} });
      await enqueue(control);
      const expected = await bench.runs.wait(runs.get(control)!, { timeoutMs: 30_000 });
      expect(expected.status).toBe(status);
      await until('its last point is told', () => undisturbed.lines.some((line) => line.endsWith(` after ${last}`)));
      await undisturbed.kill();
      const log = await comparable(control);
      const points = undisturbed.lines
        .filter((line) => line.startsWith('point '))
        .map((line) => line.split(' ').slice(2).join(' '));
      expect(new Set(points).size).toBe(points.length);
      expect(points.length).toBeGreaterThan(25);

      const parkAt = Object.fromEntries(points.map((point, i) => [`${variant}-${i}`, point]));
      bench.outside.visits.length = 0;
      const doomed = await bench.child({ name: 'doomed', worker, parkAt });
      await Promise.all(Object.keys(parkAt).map(enqueue));
      const parked = () => doomed.lines.filter((line) => line.startsWith('parked ')).length;
      await until('every run is where it is to die', () => parked() === points.length, 60_000);
      await doomed.kill();
      for (const threadId of Object.keys(parkAt)) await bench.runOut(threadId);
      await releaseJobs();

      const rescuer = await bench.startWorker(worker);
      const lost = lostCalls(points);
      for (const [threadId, point] of Object.entries(parkAt)) {
        const run = await bench.runs.wait(runs.get(threadId)!, { timeoutMs: 60_000 });
        expect(ends(run), point).toEqual(ends(expected));
        expect(await comparable(threadId), point).toEqual(log);
        const events = await eventsOf(bench, threadId);
        expect(events.filter((event) => event.kind === 'llm_lost').length, point).toBe(lost.get(point));
        const charges = bench.outside.visits.filter((visit) => visit.threadId === threadId && visit.name === 'charge');
        expect(charges.length, point).toBeLessThanOrEqual(1);
        await expectSound(bench, threadId);
      }
      await rescuer.stop();
    },
    200_000,
  );

  /** The job that was taken and not claimed has a lock as long as a lease; here it is as if that had passed. */
  async function releaseJobs(): Promise<void> {
    await bench.database.pool.query(
      `update lanefold._run set enqueue_no = enqueue_no + 1, enqueued_at = enqueued_at - interval '1 hour' where status = 'queued'`,
    );
  }
});

const ends = ({ status, terminationReason, result, usage, iteration }: Run) => ({
  status,
  terminationReason,
  result,
  usage,
  iteration,
});

/** How many model calls are lost by a death at each point: one from the commit that starts a call to the one that has its answer. */
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

// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { cases } from '../support/cases.ts';
import { expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { quick, startHarness, type FaultHarness, type WorkerProcess } from '../faults/harness.ts';
import { unseen } from './support.ts';

describe('the slots of schedules', () => {
  let harness: FaultHarness;
  beforeAll(async () => {
    harness = await startHarness();
    harness.callServer.respond = async () => ({ text: 'Done.' });
  });
  afterAll(() => harness?.close());
  const sql = async <Row>(text: string, values: unknown[] = []) =>
    (await harness.database.pool.query(text, values)).rows as Row[];
  const set = (name: string, threadId?: string) =>
    harness.schedules.set(name, {
      agent: 'fault',
      input: 'go',
      cron: '0 0 1 1 *',
      overlap: 'queue' as const,
      catchUp: 'all' as const,
      ...(threadId ? { threadId } : {}),
    });
  const runsOf = (names: string) =>
    sql<{ request_id: string; status: string; thread_id: string }>(
      'select request_id, status, thread_id from lanefold.run where request_id like $1',
      [`schedule:${names}:%`],
    );

  test.each(
    ['advance_schedule', 'take_slot', 'enqueue_run', 'settle_slot'].flatMap((statement) =>
      (['dieBefore', 'dieAfter'] as const).map((how) => [how, statement] as const),
    ),
  )('start one run, also if a worker ends by %s %s', async (how, statement) => {
    const name = `${how}-${statement}`;
    await set(name);
    await unseen(harness, name, { count: 1, everyMs: 3_600_000, agoMs: 1_000 });
    const worker = await harness.spawnWorker({ worker: quick, [how]: `${statement}:1` });
    await worker.waitForExit();
    // as if another worker looked later
    await sql("update lanefold._schedule_slot set taken_at = taken_at - interval '1 hour' where status = 'firing'");
    const rescuer = await harness.startWorker(quick);
    const [slot] = await until('the slot is settled', async () => {
      const { data: slots } = await harness.schedules.slots(name);
      return slots[0]?.settledAt && slots;
    });
    expect(slot).toMatchObject({ status: 'fired' });
    const run = await harness.runs.wait({ threadId: slot!.threadId!, id: slot!.runId! });
    expect(run).toMatchObject({ status: 'completed', result: 'Done.' });
    expect(await runsOf(name)).toHaveLength(1);
    await expectSound(harness, slot!.threadId!);
    await rescuer.stop();
    await harness.schedules.remove(name);
  });

  test('start one run each while workers are killed at random', async () => {
    const [schedules, slotsEach] = [cases(4), 20];
    const names = Array.from({ length: schedules }, (_, i) => `storm-${i}`);
    for (const name of names) await set(name, name);
    let workers: WorkerProcess[] = await Promise.all(
      ['one', 'two', 'three'].map((name) => harness.spawnWorker({ name, worker: quick })),
    );
    // a slot a second
    for (const name of names) await unseen(harness, name, { count: slotsEach, everyMs: 1_000, agoMs: 1_000 });
    const settled = async () =>
      (
        await sql<{ n: number }>(
          "select count(*)::int as n from lanefold.schedule_slot where name like 'storm-%' and settled_at is not null",
        )
      )[0]!.n;
    for (let kill = 1; kill <= cases(3); kill++) {
      const before = await settled();
      if (before === schedules * slotsEach) break;
      await until('more slots are settled', async () => (await settled()) > before);
      const victim = workers[Math.floor(Math.random() * workers.length)]!;
      await victim.kill();
      // as if the others looked later
      await sql("update lanefold._schedule_slot set taken_at = taken_at - interval '1 hour' where status = 'firing'");
      workers = [
        ...workers.filter((one) => one !== victim),
        await harness.spawnWorker({ name: `next-${kill}`, worker: quick }),
      ];
    }
    await until('all slots are settled', async () => (await settled()) === schedules * slotsEach);
    const runs = await until('all runs have ended', async () => {
      const all = await runsOf('storm-%');
      return all.every(({ status }) => ['completed', 'failed', 'cancelled'].includes(status)) && all;
    });
    const fired = await sql<{ status: string; n: number }>(
      "select status, count(*)::int as n from lanefold.schedule_slot where name like 'storm-%' group by status",
    );
    expect(fired).toEqual([{ status: 'fired', n: schedules * slotsEach }]);
    expect(new Set(runs.map(({ request_id: id }) => id)).size).toBe(schedules * slotsEach);
    expect(runs.map(({ status }) => status)).toEqual(Array(schedules * slotsEach).fill('completed'));
    for (const name of names) await expectSound(harness, name);
  });
});

// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { patient, startHarness, type FaultHarness } from '../faults/harness.ts';
import { sqlOf } from './sql.ts';

describe('one bucket for several processes', () => {
  let harness: FaultHarness;
  let sql: Awaited<ReturnType<typeof sqlOf>>;
  /** Calls that a model is answering. */
  let open = 0;
  let most = 0;
  /** Calls wait until this is called for each. */
  const answering: (() => void)[] = [];
  beforeAll(async () => {
    harness = await startHarness();
    sql = await sqlOf(harness);
    harness.callServer.respond = async () => {
      most = Math.max(most, (open += 1));
      await new Promise<void>((resolve) => answering.push(resolve));
      open -= 1;
      return { text: 'Done.' };
    };
    for (const name of ['one', 'two', 'three', 'four']) await harness.spawnWorker({ name });
  });
  afterAll(async () => {
    await sql?.close();
    await harness?.close();
  });

  const enqueue = (customer: string, count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        harness.runs.enqueue({ agent: 'fault', input: 'go', limitKeys: { customer } }),
      ),
    );

  test('lets no more than it allows work at once', async () => {
    await sql.setLimit('slots', { kind: 'concurrency', scope: { customer: 'slots' }, amount: 5 });
    const runs = await enqueue('slots', 64);
    let answered = 0;
    while (answered < runs.length) {
      await until('all slots are taken', () => answering.length === Math.min(5, runs.length - answered));
      answering.shift()!();
      answered += 1;
    }
    for (const run of runs) expect(await harness.runs.wait(run)).toMatchObject({ status: 'completed' });
    expect(most).toBe(5);
    await sql.settled();
    expect(await sql.usage('slots')).toMatchObject([{ used: 0, reserved: 0, waiting: 0 }]);
  });

  test('counts each call once, and the others wait', async () => {
    await sql.setLimit('calls', { kind: 'requests', scope: { customer: 'calls' }, amount: 10, calendar: 'month' });
    const runs = await enqueue('calls', 64);
    await until('ten models are called, and the others wait', async () => {
      const [usage] = await sql.usage('calls');
      return answering.length === 10 && usage?.waiting === 54;
    });
    for (const answer of answering.splice(0)) answer();
    await until('ten runs have ended', async () => {
      const rows = await Promise.all(runs.map((run) => harness.runs.get(run)));
      return rows.filter(({ status }) => status === 'completed').length === 10;
    });
    expect(await sql.usage('calls')).toMatchObject([{ used: 10, total: 10, waiting: 54 }]);
    await sql.rows("select lanefold.remove_limit('*', 'calls', 'test')");
    let answered = 10;
    while (answered < runs.length) {
      await until('a model is called', () => answering.length > 0);
      answering.shift()!();
      answered += 1;
    }
    for (const run of runs) expect(await harness.runs.wait(run)).toMatchObject({ status: 'completed' });
    await sql.settled();
  });

  test('has counted exactly what the log says after workers were killed', async () => {
    await sql.setLimit('tokens', { kind: 'tokens', scope: { customer: 'tokens' }, amount: 20_000, calendar: 'month' });
    await sql.setLimit('pair', { kind: 'concurrency', scope: { customer: 'tokens' }, amount: 2 });
    const runs = await enqueue('tokens', 12);
    for (const name of ['five', 'six']) {
      await until('two models are called', () => answering.length >= 2);
      answering.shift()!();
      await harness.spawnWorker({ name, worker: { ...patient, concurrency: 2 } });
    }
    const victims = await Promise.all([harness.spawnWorker({ name: 'seven' }), harness.spawnWorker({ name: 'eight' })]);
    await Promise.all(victims.map((victim) => victim.kill()));
    // what their models were asked is answered to nobody
    for (const run of runs) await harness.expireLease(run.threadId);
    const ended = until('all runs have ended', async () => {
      for (const answer of answering.splice(0)) answer();
      const rows = await Promise.all(runs.map((run) => harness.runs.get(run)));
      return rows.every(({ finishedAt }) => finishedAt !== null) && rows;
    });
    const rows = await ended;
    await sql.settled();
    const used = rows.reduce((sum, { usage }) => sum + (usage?.total_tokens ?? 0), 0);
    expect(await sql.usage('tokens')).toMatchObject([{ total: used, reserved: 0, waiting: 0 }]);
    expect(await sql.usage('pair')).toMatchObject([{ used: 0, reserved: 0, waiting: 0 }]);
    for (const run of runs) await expectSound(harness, run.threadId);
  });
});

import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/database/postgres/pool.ts';
import { eventTrimmer } from '../../../src/worker/process/background.ts';
import { queueBackend, startLanefold, type TestLanefold } from '../../support/lanefold.ts';
import { until } from '../../support/until.ts';

const keep = 10_000;

describe.skipIf(queueBackend() === 'redis')('the events of the queue in PostgreSQL', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
  });
  afterAll(() => lanefold?.close());

  const publish = (queue: string, count: number) =>
    lanefold.database.pool.query(
      `insert into bullmq.event (queue, event, created_at_ms) select $1, 'x', 0 from generate_series(1, $2::int)`,
      [queue, count],
    );
  const count = async (queue: string) => {
    const { rows } = await lanefold.database.pool.query<{ count: number }>(
      'select count(*)::int from bullmq.event where queue = $1',
      [queue],
    );
    return rows[0]!.count;
  };

  test('are trimmed by a worker, not by BullMQ, which would read all that it has deleted', async () => {
    const { name } = lanefold.queues[0]!;
    await publish(name, keep + 500);
    // BullMQ trims with every 256th event
    await lanefold.database.pool.query(
      `select count(bullmq.publish_event($1, 'x', '{}')) from generate_series(1, 600)`,
      [name],
    );
    expect(await count(name)).toBe(keep + 1_100);
    await lanefold.startWorker({ sweepMs: 50 });
    await until('they are trimmed', async () => (await count(name)) <= keep);
    const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'go' });
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
  });

  test('are trimmed from where the trim before the last one ended', async () => {
    const db = openDatabase({ url: lanefold.databaseUrl });
    const queue = 'trimmed-0';
    try {
      await lanefold.database.pool.query(`insert into bullmq.meta values ($1, 'opts.maxLenEvents', '0')`, [queue]);
      const trim = eventTrimmer(db, 'trimmed', 6);
      for (let n = 0; n < 3; n++) {
        await publish(queue, keep);
        await trim();
        expect(await count(queue)).toBeLessThanOrEqual(keep);
      }
      const { rows } = await lanefold.database.pool.query<{ first: number }>(
        'select min(id)::int as first from bullmq.event where queue = $1',
        [queue],
      );
      // as events that were committed late
      for (const id of [rows[0]!.first - 1, rows[0]!.first - 15_000])
        await lanefold.database.pool.query(`insert into bullmq.event values ($1, $2, 'late', '{}', 0)`, [queue, id]);
      const late = async () => {
        const { rows } = await lanefold.database.pool.query<{ id: number }>(
          `select id::int from bullmq.event where queue = $1 and event = 'late'`,
          [queue],
        );
        return rows.map(({ id }) => id);
      };
      await trim();
      expect(await late(), 'only a trim from the first event finds the second one').toEqual([rows[0]!.first - 15_000]);
      for (let n = 0; n < 2; n++) await trim();
      expect(await late()).toEqual([]);
    } finally {
      await db.close();
    }
  });

  test('of a queue that BullMQ trims are left to it', async () => {
    const db = openDatabase({ url: lanefold.databaseUrl });
    try {
      await lanefold.database.pool.query(`insert into bullmq.meta values ('own-0', 'opts.maxLenEvents', '10000')`);
      await publish('own-0', keep + 1);
      await eventTrimmer(db, 'own')();
      expect(await count('own-0')).toBe(keep + 1);
    } finally {
      await db.close();
    }
  });
});

// @module-tag long
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { fireSchedules, type WaitingPlace } from '../../src/features/schedules/worker/fire-schedules.ts';
import type { ScheduledRequest } from '../../src/features/schedules/worker/dependencies.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const schedules = 1_000;

describe('slots that wait for an earlier run', () => {
  let lanefold: TestLanefold;
  let db: Database;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
    db = openDatabase({ url: lanefold.database.url });
  });
  afterAll(async () => {
    await db?.close();
    await lanefold?.close();
  });

  test('cost a look a few statements, however many they are, and start once it has ended', async () => {
    // no worker: it does not end
    const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'long' });
    await lanefold.database.pool.query(
      `insert into lanefold._schedule (name, version, created_at, updated_at, agent, overlap, timing, definition, source, updated_by)
       select 's' || n, 1, now(), now(), 'echo', 'queue', '{"cron": "@yearly"}', '{"input": "x"}', 'user', 'test' from generate_series(1, $1::int) n`,
      [schedules],
    );
    await lanefold.database.pool.query(
      `insert into lanefold._schedule_slot (name, slot, due_at, status, thread_id, run_id)
       select name, now() - interval '2 hours', now() - interval '2 hours', 'fired', $1, $2 from lanefold._schedule
       union all select name, now() - interval '1 hour', now() - interval '1 hour', 'due', null, null from lanefold._schedule`,
      [run.threadId, run.id],
    );
    const started: ScheduledRequest[] = [];
    let statements = 0;
    const counted: Database = { ...db, query: (...args) => (statements++, db.query(...args)) };
    const deps = {
      db: counted,
      agents: ['echo'],
      onError: (error: unknown) => expect.unreachable(String(error)),
      onSettled: () => {},
      requests: {
        enqueue: async (_: string, request: ScheduledRequest) => {
          started.push(request);
          return lanefold.runs.enqueue(request);
        },
        cancel: () => expect.unreachable(),
      },
      stopping: () => false,
    };
    const place: WaitingPlace = {};
    const look = async () => {
      statements = 0;
      return fireSchedules(deps as never, place);
    };
    expect(await look()).toBe(true);
    for (let looks = 1; looks <= 10; looks++) {
      expect(await look()).toBe(true);
      expect(statements).toBeLessThan(10);
    }
    expect(started).toEqual([]);
    await lanefold.runs.cancel(run);
    for (let looks = 1; (await look()) && looks <= 10; looks++);
    expect(new Set(started.map(({ requestId }) => requestId)).size).toBe(schedules);
    expect(await look()).toBe(false);
  });
});

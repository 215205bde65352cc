import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/postgres/pool.ts';
import { untilNextSlot } from '../../src/features/schedules/store/schedules.ts';
import { openLog, rows, type TestLog } from '../db/helpers.ts';
import { rowsReadOf, type Explained } from '../db/plan.ts';
import { citusLacks } from '../support/citus-lacks.ts';

let log: TestLog;
beforeAll(async () => {
  log = await openLog();
  await rows(
    log.db,
    `insert into lanefold._schedule (tenant_id, name, version, next_at, agent, overlap, timing, definition, source, created_at, updated_at, updated_by)
     select 'default', 's' || n, 1, now() + n * interval '1 day', case when n = 1 then 'other' else 'own' end, 'skip', '{}', '{}', 'user', now(), now(), 'test'
     from generate_series(1, 3000) n`,
  );
  await rows(log.db, 'analyze lanefold._schedule');
});
afterAll(() => log.drop());

const dayMs = 86_400_000;
const next = (db: Database) => untilNextSlot(db, ['own'], 60_000);

test('of many schedules, a worker reads the next one, and the one that is due', async () => {
  const days = async () => Math.round((await next(log.db)).nextMs! / dayMs);
  expect(await next(log.db)).toMatchObject({ now: false });
  expect(await days()).toBe(2);
  await rows(log.db, "update lanefold._schedule set next_at = now() - interval '1 s' where name = 's2'");
  expect(await next(log.db)).toMatchObject({ now: true });
  expect(await days()).toBe(3);
});

test.skipIf(citusLacks.plans)('and reads no others', async () => {
  let read = 0;
  const query = async (_: string, text: string, values: unknown[] = []) => {
    const [explained] = await rows<Explained>(log.db, `explain (analyze, format json) ${text}`, ...values);
    read += rowsReadOf('_schedule', explained!);
    return [];
  };
  await next({ query, settings: {} } as unknown as Database);
  expect(read).toBeLessThan(10);
});

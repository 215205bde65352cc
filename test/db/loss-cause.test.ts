import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { reportWorker } from '../../src/database/store/worker/find-lacking.ts';
import { useLog, value, workerReport } from './helpers.ts';

const log = useLog();
const deadAfterMs = 20_000;
/** The test's server may have started a moment ago, so what it asks about happens in an hour. */
const now = `(clock_timestamp() + interval '1 hour')`;
let db: Database;

beforeAll(async () => {
  const database = await value<string>(log.db, 'select current_database()');
  await log.pool.query(`alter database ${database} set lanefold.clock_offset = '1 hour'`);
  db = openDatabase({ url: log.url, max: 1 });
});
afterAll(() => db.close());

beforeEach(() => log.pool.query('delete from lanefold._worker'));

/** A worker that started an hour ago, and was last heard so many seconds ago. */
async function worker(id: string, heardAgo: number, more: Partial<Parameters<typeof workerReport>[1]> = {}) {
  await reportWorker(log.db, workerReport(id, { deadAfterMs, ...more }));
  await log.pool.query(
    `update lanefold._worker set started_at = ${now} - interval '1 hour', silences = '{}',
       heartbeat_at = ${now} - $2 * interval '1 s' where id = $1`,
    [id, heardAgo],
  );
}

/** As if a heartbeat of this worker had ended a time without any. */
const silence = (id: string, fromAgo: number, toAgo: number) =>
  log.pool.query(
    `update lanefold._worker set silences = tstzmultirange(tstzrange(
       ${now} - $2 * interval '1 s', ${now} - $3 * interval '1 s')) where id = $1`,
    [id, fromAgo, toAgo],
  );

/** A heartbeat that tells of a time in which the event loop of this worker served nothing. */
const stall = (id: string, kind: 'busy' | 'frozen', fromAgo: number, toAgo: number) =>
  reportWorker(db, workerReport(id, { deadAfterMs, stalls: [{ kind, fromMs: fromAgo * 1_000, toMs: toAgo * 1_000 }] }));

/** Of a worker that renewed the lease of its run so many seconds ago, for another one. */
const causeOf = (id: string, seenAgo = 12, askedBy = 'asking') =>
  value<string | null>(
    db,
    `select lanefold.loss_cause($1, lanefold._now() - $2::int * interval '1 s', $3)`,
    ...[id, seenAgo, askedBy],
  );

test('a worker that is lost while others live has no known cause', async () => {
  await worker('lost', 14);
  await worker('asking', 3);
  await worker('other', 6);
  expect(await causeOf('lost')).toBeNull();
  expect(await causeOf('unheard of')).toBeNull();
});

test('a worker that had been told to stop', async () => {
  await worker('lost', 14, { draining: true });
  await worker('asking', 3);
  expect(await causeOf('lost')).toBe('worker_stopping');
});

test('another worker that fell silent within the same moment', async () => {
  await worker('lost', 14);
  await worker('asking', 3);
  await worker('other', 17);
  expect(await causeOf('lost')).toBe('workers_lost');
  // before that, as the worker that the same run crashed before, or in good order
  await worker('other', 20);
  expect(await causeOf('lost')).toBeNull();
  await worker('other', 17, { draining: true, stopped: true });
  expect(await causeOf('lost')).toBeNull();
});

test('a time in which the database heard no worker', async () => {
  await worker('lost', 14);
  await worker('asking', 3);
  await worker('other', 2);
  await silence('other', 15, 3);
  expect(await causeOf('lost')).toBe('database_silent');
  // long before that, or long after
  await silence('other', 60, 40);
  expect(await causeOf('lost')).toBeNull();
  await silence('other', 15, 3);
  expect(await causeOf('lost', 40)).toBeNull();
});

test('such a time says nothing if the lost worker is the only one that lived through it', async () => {
  await worker('lost', 2);
  await silence('lost', 15, 3);
  expect(await causeOf('lost')).toBeNull();
  // one that was started since
  await worker('asking', 2);
  await log.pool.query(`update lanefold._worker set started_at = ${now} - interval '4 s' where id = 'asking'`);
  expect(await causeOf('lost')).toBeNull();
});

test('a time without any worker that continues is one that the asking worker lives through', async () => {
  await worker('lost', 14);
  await worker('asking', 13);
  expect(await causeOf('lost')).toBe('database_silent');
  expect(await causeOf('lost', 12, 'another')).toBe('workers_lost');
});

test('a server that was started since', async () => {
  await worker('lost', 14);
  const cause = await value<string>(
    db,
    `select lanefold.loss_cause('lost', pg_postmaster_start_time() - interval '1 ms', 'asking')`,
  );
  expect(cause).toBe('database_restarted');
});

describe('a worker that reports later why it missed its heartbeats', () => {
  test('has lost its runs by what kept it busy, also if the database heard no other worker', async () => {
    await worker('lost', 34);
    await worker('asking', 34);
    await stall('asking', 'busy', 34, 1);
    // the other one was not there to hear that the database is silent
    expect(await causeOf('lost', 32)).toBeNull();
    await stall('lost', 'busy', 33, 0);
    expect(await causeOf('lost', 32)).toBeNull();
    await worker('other', 2);
    await silence('other', 34, 3);
    expect(await causeOf('lost', 32)).toBeNull();
  });

  test('is no witness of the time in which it was busy, but of what was left', async () => {
    await worker('lost', 34);
    await worker('asking', 34);
    await stall('asking', 'busy', 34, 20);
    expect(await causeOf('lost', 32)).toBeNull();
    // the database heard no other worker from then on either
    expect(await causeOf('lost', 25)).toBe('database_silent');
  });

  test('was frozen, whatever others did', async () => {
    await worker('lost', 34);
    await worker('asking', 2);
    expect(await causeOf('lost', 32)).toBeNull();
    await stall('lost', 'frozen', 33, 0);
    expect(await causeOf('lost', 32)).toBe('worker_frozen');
    // a lease that ran out after it had woken up
    expect(await causeOf('lost', 8)).toBeNull();
  });

  test('has its stalls kept for a month', async () => {
    const month = 30 * 86_400;
    await worker('lost', 34);
    await stall('lost', 'busy', month + 40, month - 10);
    await stall('lost', 'busy', 20, 10);
    const kept = await log.pool.query<{ n: number; oldest: boolean }>(
      `select count(*)::int as n, min(lower(s)) >= ${now} - interval '30 days 1 minute' as oldest
       from lanefold._worker w, unnest(w.busy) s where w.id = 'lost'`,
    );
    expect(kept.rows).toEqual([{ n: 2, oldest: true }]);
  });
});

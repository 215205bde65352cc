import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/database/postgres/pool.ts';
import { renewLeases } from '../../src/database/store/run/renew-leases.ts';
import { listWorkers } from '../../src/database/store/worker/list-workers.ts';
import { reportWorker, toReport, type WorkerReport } from '../../src/database/store/worker/find-lacking.ts';
import { newThread, openLog, rows, useLog, value, workerReport } from './helpers.ts';
import { sqlRun } from './sql-run.ts';

const log = useLog();

const listed = async (hours = 1) =>
  Object.fromEntries((await listWorkers(log.db, hours)).map((worker) => [worker.id, worker]));
/** Those that take runs. */
const takers = async () =>
  (await rows<{ id: string }>(log.db, 'select id from lanefold.worker where alive and not draining')).map(
    ({ id }) => id,
  );
/** As if the last heartbeat of a worker was so long ago. */
const silentFor = (id: string, interval: string) =>
  log.pool.query(`update lanefold._worker set heartbeat_at = heartbeat_at - interval '${interval}' where id = '${id}'`);

test('a worker is in the list with what it said, and changes with each heartbeat', async () => {
  await reportWorker(log.db, workerReport('w1'));
  const { w1: first } = await listed();
  expect(first).toEqual({
    id: 'w1',
    host: 'box',
    pid: 7,
    version: '1.2.3',
    queue: 'lf',
    agents: ['a', 'b'],
    strategies: ['react'],
    concurrency: 20,
    runsHeld: 0,
    state: 'alive',
    startedAt: expect.any(Date) as Date,
    stoppedAt: null,
    heartbeatAt: first!.startedAt,
  });
  await reportWorker(log.db, workerReport('w1', { runsHeld: 3, draining: true }));
  const { w1: second } = await listed();
  expect(second).toMatchObject({ startedAt: first!.startedAt, runsHeld: 3, state: 'draining' });
  expect(second!.heartbeatAt.getTime()).toBeGreaterThanOrEqual(first!.heartbeatAt.getTime());
});

test('it is dead once it was silent for as long as it said, and alive again with its next heartbeat', async () => {
  await reportWorker(log.db, workerReport('silent', { deadAfterMs: 60_000 }));
  await silentFor('silent', '61 s');
  expect(await listed()).toMatchObject({ silent: { state: 'dead' } });
  expect(await takers()).not.toContain('silent');
  await reportWorker(log.db, workerReport('silent'));
  expect(await listed()).toMatchObject({ silent: { state: 'alive' } });
  expect(await takers()).toContain('silent');
});

test('it dies by the clock of the database, forwards and backwards', async () => {
  await reportWorker(log.db, workerReport('clocked', { deadAfterMs: 60_000 }));
  const database = await value<string>(log.db, 'select current_database()');
  for (const offset of ['1 hour', '-1 hour']) {
    await log.pool.query(`alter database ${database} set lanefold.clock_offset = '${offset}'`);
    const other = openDatabase({ url: log.url, max: 1 });
    try {
      const [worker] = (await listWorkers(other, 2)).filter(({ id }) => id === 'clocked');
      expect(worker, offset).toMatchObject({ state: 'dead' });
    } finally {
      await other.close();
      await log.pool.query(`alter database ${database} reset lanefold.clock_offset`);
    }
  }
});

test('one that ended has stopped, whenever that was, and takes no run', async () => {
  await reportWorker(log.db, workerReport('gone', { deadAfterMs: 60_000 }));
  await reportWorker(log.db, workerReport('gone', { draining: true, stopped: true }));
  await silentFor('gone', '61 s');
  expect(await listed()).toMatchObject({ gone: { state: 'stopped', stoppedAt: expect.any(Date) as Date } });
  expect(await takers()).not.toContain('gone');
});

test('those that ended are listed for as many hours as asked for, those that are alive always and first', async () => {
  await reportWorker(log.db, workerReport('yesterday'));
  await reportWorker(log.db, workerReport('long', { deadAfterMs: 90_000_000 }));
  await silentFor('yesterday', '23 hours');
  await silentFor('long', '24 hours');
  expect(Object.keys(await listed(22))).not.toContain('yesterday');
  expect(Object.keys(await listed(22))).toContain('long');
  const all = await listWorkers(log.db, 25);
  expect(all.map(({ id }) => id)).toContain('yesterday');
  const states = all.map(({ state }) => state);
  expect(states.lastIndexOf('alive')).toBeLessThan(states.indexOf('dead'));
});

test('rows are removed after 30 days, when another worker starts', async () => {
  await reportWorker(log.db, workerReport('old'));
  await reportWorker(log.db, workerReport('older'));
  await silentFor('old', '29 days');
  await silentFor('older', '31 days');
  await reportWorker(log.db, workerReport('new'));
  const left = await rows<{ id: string }>(log.db, "select id from lanefold.worker where id in ('old', 'older', 'new')");
  expect(left.map(({ id }) => id).sort()).toEqual(['new', 'old']);
});

test('a heartbeat rides on the renewal of leases', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'held');
  await run.enqueue();
  await run.claim();
  const lease = { threadId, runId: 'held', lease: 1, leaseMs: 60_000, step: 0 };
  const seen: unknown[] = [];
  const renew = (given?: WorkerReport) => renewLeases(log.db, [lease], 60_000, (_, answer) => seen.push(answer), given);
  await renew(workerReport('rider', { runsHeld: 1 }));
  await renew();
  await renew(workerReport('rider', { runsHeld: 2 }));
  expect(seen).toEqual(Array.from({ length: 3 }, () => ({ lost: false, cancelRequested: false, renewed: true })));
  expect(await listed()).toMatchObject({ rider: { runsHeld: 2 } });
});

test('a heartbeat rewrites its row in the page and touches no index', async () => {
  const client = await log.pool.connect();
  try {
    await client.query('begin');
    const updates = async () => {
      const { rows: counts } = await client.query<{ all: number; hot: number }>(
        `select n_tup_upd::int as all, n_tup_hot_upd::int as hot from pg_stat_xact_user_tables
         where relid = 'lanefold._worker'::regclass`,
      );
      return counts[0]!;
    };
    const before = await updates();
    const beat = (runs: number) =>
      client.query('select lanefold.report_worker($1, $2)', ['hot', toReport(workerReport('hot', { runsHeld: runs }))]);
    for (let runs = 0; runs <= 8; runs++) await beat(runs);
    const after = await updates();
    expect(after.all - before.all).toBe(8);
    expect(after.hot - before.hot).toBe(8);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('a renewal does not wait for a heartbeat that hangs', async () => {
  await reportWorker(log.db, workerReport('hung'));
  const hung = await log.pool.connect();
  try {
    await hung.query("begin; select from lanefold._worker where id = 'hung' for update");
    await renewLeases(log.db, [], 60_000, () => {}, workerReport('hung', { runsHeld: 9 }));
    expect(await listed()).toMatchObject({ hung: { runsHeld: 0 } });
  } finally {
    await hung.query('rollback');
    hung.release();
  }
});

test('workers that start together do not wait for each other', async () => {
  const other = await openLog();
  onTestFinished(() => other.drop());
  await Promise.all(Array.from({ length: 20 }, (_, n) => reportWorker(other.db, workerReport(`w${n}`))));
  expect(await listWorkers(other.db, 1)).toHaveLength(20);
});

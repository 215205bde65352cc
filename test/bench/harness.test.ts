// @module-tag long
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { emptyFolder } from '../examples/folder.ts';
import { startProgram, type Program } from '../examples/program.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startOutage } from '../support/outage.ts';
import { until } from '../support/until.ts';

const source = 'bench/harness/lanefold-bench';
const manifest = JSON.parse(readFileSync(`${source}/adapter.json`, 'utf8')) as {
  system: string;
  event_tables: string[];
  extensions: string[];
};

let folder: ReturnType<typeof emptyFolder>;
let database: TestDatabase;
let started: Program[];

/** The adapter as it stands in the other repository, with the built package installed. */
beforeAll(() => {
  folder = emptyFolder();
  cpSync(source, folder.path, { recursive: true });
  mkdirSync(path.join(folder.path, 'node_modules'));
  symlinkSync(inject('packageDir'), path.join(folder.path, 'node_modules/lanefold'));
});
afterAll(() => folder.remove());

beforeEach(async () => {
  started = [];
  database = await createDatabase({ empty: true });
});
afterEach(async () => {
  for (const program of started) program.kill();
  await Promise.all(started.map(({ ended }) => ended));
  await database.drop();
});

async function start(env: Record<string, string> = {}, databaseUrl = database.url): Promise<Program> {
  const adapter = startProgram(path.join(folder.path, 'main.js'), {
    listens: true,
    env: {
      DATABASE_URL: databaseUrl,
      SCENARIO: 'long_horizon',
      PRODUCER_MODE: 'fixed',
      PRODUCER_PACING: 'harness',
      PRODUCER_RATE: '100',
      WORKER_COUNT: '8',
      SAMPLE_EVERY_S: '1',
      ...env,
    },
  });
  started.push(adapter);
  await adapter.says(/"kind":"descriptor"/);
  return adapter;
}

type Line = Record<string, unknown> & { kind: string; metric: string; value: number; window_s: number; t: string };

/** All that it says is JSON, a record a line. The last line may still be incomplete. */
const linesOf = (adapter: Program): Line[] =>
  adapter
    .said()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
const samplesOf = (adapter: Program): Line[] => linesOf(adapter).filter(({ kind }) => kind === 'adapter');
/** How many jobs the rates stand for. */
const jobsIn = (adapter: Program, metric: string): number =>
  Math.round(
    samplesOf(adapter)
      .filter((sample) => sample.metric === metric)
      .reduce((jobs, { value, window_s }) => jobs + value * window_s, 0),
  );

const countRuns = async (condition = 'true'): Promise<number> =>
  (await database.pool.query<{ n: number }>(`select count(*)::int as n from lanefold.run where ${condition}`)).rows[0]!
    .n;
const completed = "status = 'completed'";
/** Of each conversation: the question and one answer. */
const entriesPerJob = async (): Promise<number[]> =>
  (
    await database.pool.query<{ n: number }>(
      'select distinct count(*)::int as n from lanefold.thread_entry group by thread_id',
    )
  ).rows.map(({ n }) => n);

test('it describes itself, works the jobs that the harness asks for, and reports every metric at every tick', async () => {
  const adapter = await start();
  expect(linesOf(adapter)[0]).toMatchObject({
    kind: 'descriptor',
    system: manifest.system,
    event_tables: manifest.event_tables,
    extensions: manifest.extensions,
    db_name: new URL(database.url).pathname.slice(1),
    instance_id: 0,
  });
  const tables = await database.pool.query<{ found: boolean }>(
    'select bool_and(to_regclass(name) is not null) as found from unnest($1::text[]) name',
    [manifest.event_tables],
  );
  expect(tables.rows).toEqual([{ found: true }]);

  // rates cover whole intervals, from the first tick on
  await until('there is a sample', () => samplesOf(adapter).length > 0);
  adapter.tell('ENQUEUE 7\nENQUEUE 5\n');
  await until('the jobs are reported', () => jobsIn(adapter, 'completion_rate') === 12);
  expect(jobsIn(adapter, 'enqueue_rate')).toBe(12);
  expect([await countRuns(), await countRuns(completed)]).toEqual([12, 12]);

  adapter.stop();
  expect(await adapter.ended).toMatchObject({ code: 0, errors: '' });
  const samples = samplesOf(adapter);
  const percentiles = ['claim', 'subscriber', 'producer', 'end_to_end'].flatMap((name) =>
    ['p50', 'p95', 'p99'].map((percentile) => `${name}_${percentile}_ms`),
  );
  const metrics = [...percentiles, 'enqueue_rate', 'completion_rate', 'queue_depth', 'producer_target_rate'];
  for (const tick of new Set(samples.map(({ t }) => t)))
    expect(samples.filter(({ t }) => t === tick).map(({ metric }) => metric)).toEqual(expect.arrayContaining(metrics));
  const largest = Object.fromEntries(
    percentiles.map((name) => [
      name,
      Math.max(...samples.filter(({ metric }) => metric === name).map(({ value }) => value)),
    ]),
  );
  expect(largest['claim_p99_ms']).toBeGreaterThan(0);
  expect(largest['claim_p99_ms']).toBe(largest['subscriber_p99_ms']);
  expect(largest['end_to_end_p99_ms']).toBeGreaterThanOrEqual(largest['claim_p50_ms']!);
});

test('in a phase with a higher rate, the same tokens are more jobs', async () => {
  const file = path.join(folder.path, 'rate.txt');
  writeFileSync(file, '100');
  const adapter = await start({ PRODUCER_RATE_CONTROL_FILE: file });
  adapter.tell('ENQUEUE 4\n');
  await until('the jobs of the base rate are done', async () => (await countRuns(completed)) === 4);
  writeFileSync(file, '250.0');
  adapter.tell('ENQUEUE 4\n');
  await until('the jobs of the higher rate are done', async () => (await countRuns(completed)) === 14);
  adapter.stop();
  expect(await adapter.ended).toMatchObject({ code: 0 });
  expect(await countRuns()).toBe(14);
});

test('it fills the queue to the target depth, and stops in time although its jobs do not end', async () => {
  const adapter = await start({
    PRODUCER_MODE: 'depth-target',
    TARGET_DEPTH: '10',
    WORKER_COUNT: '2',
    JOB_WORK_MS: '1000000',
  });
  await until('the queue is full', () =>
    samplesOf(adapter).some(({ metric, value }) => metric === 'queue_depth' && value === 10),
  );
  adapter.stop();
  expect(await adapter.ended).toMatchObject({ code: 0 });
  expect([await countRuns(), await countRuns(completed)]).toEqual([12, 0]);
});

test('the other replica does the jobs of a killed one, once, and leaves the depth of the queue to the first', async () => {
  const killed = await start({ JOB_WORK_MS: '1000000' });
  killed.tell('ENQUEUE 6\n');
  await until('the jobs are in work', async () => (await countRuns("status = 'running'")) === 6);
  killed.kill();
  await killed.ended;

  const other = await start({ BENCH_INSTANCE_ID: '1' });
  await until('the jobs are done', async () => (await countRuns(completed)) === 6);
  await until('there is a sample', () => samplesOf(other).length > 0);
  other.stop();
  expect(await other.ended).toMatchObject({ code: 0 });
  expect(await entriesPerJob()).toEqual([2]);
  expect(linesOf(other).filter(({ instance_id }) => instance_id !== 1)).toEqual([]);
  expect(samplesOf(other).filter(({ metric }) => metric === 'queue_depth')).toEqual([]);
});

test('jobs that an outage of the database refuses are enqueued once it is over, and once', async () => {
  const outage = await startOutage(database.url);
  const adapter = await start({}, outage.url);
  outage.refuse();
  adapter.tell('ENQUEUE 20\n');
  await until('the jobs are refused', () => adapter.complained().includes('jobs are enqueued again'));
  const before = samplesOf(adapter).length;
  await until('it reports all the same', () => samplesOf(adapter).length > before);
  outage.end();
  await until('the jobs are done', async () => (await countRuns(completed)) === 20);
  adapter.stop();
  expect(await adapter.ended).toMatchObject({ code: 0 });
  await outage.close();
  expect([await countRuns(), await entriesPerJob()]).toEqual([20, [2]]);
});

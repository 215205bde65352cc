// @module-tag long
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { createLanefold, defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { noRedis, queueBackend } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { callCli } from './call-cli.ts';
import { startCli } from './cli.ts';

const quick = ['--seconds', '1', '--concurrency', '3'];
const long = ['--seconds', '600', '--concurrency', '3'];

/** In Redis, the queue is named and removed otherwise; nothing else of a measurement depends on it. */
const onPostgres = test.skipIf(queueBackend() === 'redis');

describe.skipIf(noRedis())('lanefold bench', () => {
  let database: TestDatabase;
  let oid: number;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await createDatabase();
    env = { DATABASE_URL: database.url, ...(queueBackend() === 'redis' ? { REDIS_URL: inject('redisUrl') } : {}) };
    const { rows } = await database.pool.query<{ oid: number }>(
      'select oid from pg_database where datname = current_database()',
    );
    oid = rows[0]!.oid;
  });
  afterAll(() => database.drop());

  /** The scratch database, the keys of the queue and the roles of a measurement. */
  async function left(): Promise<unknown[]> {
    const { rows } = await database.pool.query('select datname from pg_database where datname = $1', [
      `lanefold_bench_${oid}`,
    ]);
    if (queueBackend() === 'postgres') return rows;
    const redis = new Redis(inject('redisUrl'));
    const keys = await redis.keys(`*lf-bench-${oid}-*`).finally(() => redis.disconnect());
    return [...rows, ...keys];
  }

  /** What is stored in the database itself: the number of rows of every table. */
  async function stored(): Promise<unknown> {
    const { rows } = await database.pool.query<{ table: string }>(
      `select c.oid::regclass::text as table from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and n.nspname !~ '^(pg_|information_schema)' order by 1`,
    );
    return Promise.all(
      rows.map(async ({ table }) => [table, (await database.pool.query(`select count(*) from ${table}`)).rows[0]]),
    );
  }

  const untilAtWork = () =>
    until('the measurement executes runs', async () => {
      const { rows } = await database.pool.query(
        "select from pg_stat_activity where datname = $1 and application_name = 'lanefold leases'",
        [`lanefold_bench_${oid}`],
      );
      return rows.length > 0;
    });

  test('prints the figures and suggestions as JSON, and leaves nothing behind', async () => {
    const before = await stored();
    const { code, stdout } = await callCli(['bench', '--seconds', '1', '--concurrency', '1,3', '--json'], { env });
    expect(code).toBe(0);
    const number = expect.any(Number) as number;
    const percentiles = { p50: number, p95: number, p99: number };
    const level = {
      runs: number,
      seconds: number,
      runs_per_second: number,
      first_model_call_ms: percentiles,
      per_run: expect.objectContaining({ cpu_ms: number, wal_bytes: number, commits: number, disk_bytes: number }),
      connections: { open: number, busy: number },
      other_commits_per_second: number,
    };
    const report = JSON.parse(stdout) as { suggestions: object[] };
    expect(report).toEqual({
      queue: queueBackend(),
      machine: { cpus: number, cpu: expect.any(String), node: process.version },
      postgres: expect.objectContaining({
        fsync: 'off',
        synchronous_commit: 'on',
        round_trip_ms: percentiles,
        commit_ms: percentiles,
      }),
      levels: [
        { concurrency: 1, ...level },
        { concurrency: 3, ...level },
      ],
      suggestions: expect.arrayContaining([expect.objectContaining({ about: 'durability', advice: 'turn on fsync' })]),
      notes: expect.any(Array),
    });
    for (const suggestion of report.suggestions)
      expect(suggestion).toEqual({
        about: expect.any(String),
        advice: expect.any(String),
        reason: expect.any(String),
      });
    expect(await left()).toEqual([]);
    expect(await stored()).toEqual(before);
  });

  onPostgres('measures with the settings of the database, and prints a table for people', async () => {
    await database.pool.query(`do $$ begin
      execute format('alter database %I set synchronous_commit = off', current_database()); end $$`);
    const { code, stdout } = await callCli(['bench', ...quick], { env });
    await database.pool.query(`do $$ begin
      execute format('alter database %I reset synchronous_commit', current_database()); end $$`);
    expect(code).toBe(0);
    expect(stdout).toContain('synchronous_commit off');
    expect(stdout).toMatch(/^at a time +runs\/s +first call p50/m);
    expect(stdout).toMatch(/^3 +\d+ +[\d.]+ /m);
    expect(stdout).toMatch(/^durability: turn on fsync and synchronous_commit$/m);
  });

  onPostgres('refuses a database with active runs unless told otherwise, and leaves them alone', async () => {
    const agent = defineAgent({ name: 'nobody', model: 'scripted:echo' });
    const lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null, agents: [agent] });
    const run = await lanefold.runs.enqueue({ agent: 'nobody', input: 'Hello' });
    try {
      const refused = await callCli(['bench', ...quick], { env });
      expect([refused.code, refused.stdout]).toEqual([1, '']);
      expect(refused.stderr).toMatch(
        /^lanefold: Runs are active: 1 queued\. \[run_active\]\nhint: .*--beside-active-runs/,
      );
      const before = await stored();
      const told = await callCli(['bench', ...quick, '--beside-active-runs', '--json'], { env });
      expect(told.code).toBe(0);
      expect(await stored()).toEqual(before);
      expect((await lanefold.runs.get(run)).status).toBe('queued');
    } finally {
      await lanefold.runs.cancel(run);
      await lanefold.close();
    }
    expect(await left()).toEqual([]);
  });

  onPostgres.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing behind on %s, and works alone', async (signal) => {
    const first = startCli(['bench', ...long], { env });
    await untilAtWork();
    const second = await callCli(['bench', ...quick], { env });
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('[database_busy]')]);
    first.process.kill(signal);
    const { code, stdout, stderr } = await first.ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`${signal}: removing the scratch database`);
    expect(stderr).toContain('nothing is left of the measurement');
    expect(await left()).toEqual([]);
  });

  onPostgres('leaves nothing behind when it fails midway, even if its connection is lost', async () => {
    const failing = startCli(['bench', ...long], { env });
    await untilAtWork();
    await database.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'lanefold bench'",
    );
    const { code, stderr } = await failing.ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('[database_unreachable]')]);
    expect(await left()).toEqual([]);
  });

  test('removes what a killed process left', async () => {
    const killed = startCli(['bench', ...long], { env });
    await untilAtWork();
    killed.process.kill('SIGKILL');
    await killed.ended;
    expect(await left()).not.toEqual([]);
    await until('the server has noticed the end of the process', async () => {
      const { rows } = await database.pool.query(
        "select from pg_stat_activity where datname = current_database() and application_name = 'lanefold bench'",
      );
      return rows.length === 0;
    });
    expect((await callCli(['bench', ...quick], { env })).code).toBe(0);
    expect(await left()).toEqual([]);
  });

  onPostgres('names the right that a role lacks', async () => {
    const role = `bench_${randomBytes(4).toString('hex')}`;
    await database.pool.query(`create role ${role} login password 'secret'`);
    await database.pool.query("select lanefold.grant_role($1, 'worker')", [role]);
    const url = new URL(database.url);
    Object.assign(url, { username: role, password: 'secret' });
    try {
      const { code, stderr } = await callCli(['bench', ...quick], { env: { ...env, DATABASE_URL: url.href } });
      expect(code).toBe(1);
      expect(stderr).toContain('permission denied to create database. [database_error]');
      expect(stderr).toContain(`alter role "${role}" createdb`);
    } finally {
      await database.pool.query('select lanefold.revoke_role($1)', [role]);
      await database.pool.query(`drop owned by ${role}; drop role ${role}`);
    }
    expect(await left()).toEqual([]);
  });

  onPostgres('refuses a database that is not migrated', async () => {
    const empty = await createDatabase({ empty: true });
    const { code, stderr } = await callCli(['bench', ...quick], { env: { ...env, DATABASE_URL: empty.url } });
    await empty.drop();
    expect([code, stderr]).toEqual([1, expect.stringContaining('[database_outdated]\nhint: Run `lanefold migrate`')]);
  });
});

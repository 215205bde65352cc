// @module-tag slow
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withoutPassword } from '../../src/base/checks/connection-url.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';
import { cli, startCli, type CliProcess } from './cli.ts';

const agents = ['--agents', path.resolve('test/cli/fixtures/versions.ts'), '--no-watch'];
const password = 'hunter2-@:#%';
const roles = { may: `dev_${randomBytes(4).toString('hex')}`, mayNot: `dev_${randomBytes(4).toString('hex')}` };

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await database.pool.query(`create role ${roles.may} superuser login password '${password}'`);
  await database.pool.query(`create role ${roles.mayNot} login password '${password}'`);
});
afterAll(async () => {
  for (const role of Object.values(roles)) await database?.pool.query(`drop owned by ${role}; drop role ${role}`);
  await database?.drop();
});

const urlAs = (role: string): string => {
  const url = new URL(database.url);
  url.username = role;
  url.password = encodeURIComponent(password);
  return url.href;
};

/** In whatever spelling. */
const secret = /hunter2/;

test('dev names the database without its password, and each agent once', async () => {
  const dev = startCli(['dev', ...agents, '--port', '0'], { env: { DATABASE_URL: urlAs(roles.may) } });
  try {
    const told = await dev.says('stdout', 'Ctrl-C stops it.');
    expect(told).toContain(`psql "postgresql://${roles.may}@${new URL(database.url).host}/`);
    expect(told).toMatch(/^Agents +support \(a, b\), other$/m);
  } finally {
    dev.process.kill('SIGTERM');
  }
  const { code, stdout, stderr } = await dev.ended;
  expect([code, stdout + stderr]).toEqual([0, expect.not.stringMatching(secret)]);
});

test('api says what it waits for until it listens', async () => {
  const migration = await database.pool.connect();
  let api: CliProcess | undefined;
  try {
    // whatever looks up a function waits, as the first statement of the API does
    await migration.query('begin; lock table pg_proc in access exclusive mode');
    api = startCli(['api', '--port', '0'], { env: { DATABASE_URL: urlAs(roles.may) } });
    await api.says('stderr', `connecting to PostgreSQL at postgresql://${roles.may}@`);
    expect(api.said().stderr).not.toContain('page and API');
    await migration.query('rollback');
    await api.says('stderr', 'page and API http://');
  } finally {
    migration.release(true);
    api?.process.kill('SIGTERM');
  }
  expect((await api.ended).stderr).not.toMatch(secret);
});

test('dev says that it migrates, and how to migrate separately, to a role that may not', async () => {
  const { code, stderr } = await cli(['dev', ...agents], { env: { DATABASE_URL: urlAs(roles.mayNot) } });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^lanefold: The migration was refused\. The role of DATABASE_URL lacks a right: .*\[database_error\]$/m,
  );
  expect(stderr).toMatch(/^hint: `lanefold dev` .* before they start\. Run `lanefold migrate` as the owner/m);
  expect(stderr).not.toMatch(secret);
});

const unreachable = 'postgresql://app:hunter2@127.0.0.1:1/shop';
test.each([
  ['dev', { DATABASE_URL: unreachable }],
  ['worker', { DATABASE_URL: 'postgre://app:hunter2@127.0.0.1/shop' }],
  ['api', { DATABASE_URL: 'postgresql://app:hunter2@a,b/shop' }],
  ['api', { DATABASE_URL: unreachable, LANEFOLD_READ_URL: 'postgresql://other:hunter2@127.0.0.1:1/shop' }],
  ['worker', { DATABASE_URL: unreachable, LANEFOLD_DIRECT_URL: 'http://app:hunter2@127.0.0.1' }],
  ['migrate', { DATABASE_URL: unreachable }],
  ['bench', { DATABASE_URL: unreachable }],
  ['bench', { DATABASE_URL: unreachable, REDIS_URL: 'rediss//:hunter2@127.0.0.1:1' }],
])('%s fails on %o without its password', async (command, env) => {
  // dev starts a program
  const run = command === 'dev' ? cli : callCli;
  const { code, stdout, stderr } = await run([command], { env });
  expect(code).toBeGreaterThan(0);
  expect(stderr).toContain('hint: ');
  expect(stdout + stderr).not.toMatch(secret);
});

test('worker fails on a Redis that does not answer without its password', async () => {
  const env = { DATABASE_URL: urlAs(roles.may), REDIS_URL: 'redis://app:hunter2@127.0.0.1:1' };
  const { code, stdout, stderr } = await callCli(['worker'], { env });
  expect([code, stderr]).toEqual([1, expect.stringContaining('[queue_unreachable]')]);
  expect(stdout + stderr).not.toMatch(secret);
});

test.each([
  ['postgresql://app:p%40ss@db:5432/shop?sslmode=require', 'postgresql://app@db:5432/shop?sslmode=require'],
  ['postgres://app@db/shop', 'postgres://app@db/shop'],
  ['postgres://db/shop', 'postgres://db/shop'],
  ['postgres://:p@db/shop', 'postgres://@db/shop'],
  ['postgres://app:p@[::1]:5432/shop', 'postgres://app@[::1]:5432/shop'],
  ['postgresql://app:p@/shop?host=/run/postgresql', 'postgresql://app@/shop?host=/run/postgresql'],
  ['postgresql:///shop?user=app&password=p&host=/run', 'postgresql:///shop?user=app&host=/run'],
  ['postgresql://app:a:b@db/shop?password=p', 'postgresql://app@db/shop'],
])('%s is shown as %s', (url, shown) => expect(withoutPassword(url)).toBe(shown));

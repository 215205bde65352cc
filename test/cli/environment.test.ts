// @module-tag long
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../src/database/postgres/embedded/launch.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';
import { cli } from './cli.ts';
import { urlAs } from '../support/citus.ts';

const secret = 's3cr3t';
let database: TestDatabase;
let folder: string;
let closed: number;
beforeAll(async () => {
  database = await createDatabase();
  closed = await freePort();
  folder = mkdtempSync(path.join(tmpdir(), 'lanefold-environment-'));
  writeFileSync(path.join(folder, 'keyless.mjs'), `export default [{ name: 'a', model: 'openai:gpt-5' }];`);
  writeFileSync(path.join(folder, 'nowhere.mjs'), `export default [{ name: 'a', model: 'nowhere:x' }];`);
  writeFileSync(path.join(folder, 'throws.mjs'), `throw new Error('boom');`);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.drop();
});

/** Prints one line and a hint; returns both. */
async function failure(args: string[], env: Record<string, string>): Promise<{ code: number | null; said: string }> {
  // dev starts a program, or was started by one
  const run = args[0] === 'dev' ? cli : callCli;
  const { code, stderr } = await run(args, { cwd: folder, env: { OPENAI_API_KEY: '', ...env } });
  expect(stderr).toMatch(/^lanefold: [^\n]+ \[\w+\]\nhint: [^\n]+\n$/m);
  expect(stderr).not.toContain(secret);
  return { code, said: stderr };
}

test.each<[string, Record<string, string>, RegExp]>([
  ['worker', { DATABASE_URL: `postgres://u:${secret}@host:port/db` }, /DATABASE_URL is not a valid URL/],
  ['api', { DATABASE_URL: `mysql://u:${secret}@host/db` }, /DATABASE_URL has the scheme "mysql:"/],
  ['worker', { REDIS_URL: `redis://:${secret}@host:port` }, /REDIS_URL is not a valid URL/],
  ['api', { LANEFOLD_PORT: 'abc' }, /LANEFOLD_PORT/],
  ['worker', { LANEFOLD_QUEUE_SHARDS: 'many' }, /LANEFOLD_QUEUE_SHARDS/],
  ['api', { LANEFOLD_PREPARED_STATEMENTS: 'perhaps' }, /LANEFOLD_PREPARED_STATEMENTS/],
  ['worker', { LANEFOLD_AGENTS: 'missing.mjs' }, /missing\.mjs does not exist \(LANEFOLD_AGENTS\)/],
  ['api', { LANEFOLD_AGENTS: 'throws.mjs' }, /throws\.mjs \(LANEFOLD_AGENTS\): Error: boom/],
  ['worker', { LANEFOLD_AGENTS: 'keyless.mjs' }, /OPENAI_API_KEY.*missing_provider_key/],
  ['api', { LANEFOLD_AGENTS: 'keyless.mjs' }, /OPENAI_API_KEY.*missing_provider_key/],
  ['run hi', { LANEFOLD_AGENTS: 'keyless.mjs' }, /OPENAI_API_KEY.*missing_provider_key/],
  ['worker', { LANEFOLD_AGENTS: 'nowhere.mjs' }, /unknown_model/],
  ['run hi', { LANEFOLD_AGENTS: 'nowhere.mjs' }, /unknown_model/],
  ['dev', { LANEFOLD_AGENTS: 'missing.mjs' }, /missing\.mjs does not exist \(LANEFOLD_AGENTS\)/],
  ['dev', { LANEFOLD_AGENTS: 'throws.mjs' }, /throws\.mjs \(LANEFOLD_AGENTS\): Error: boom/],
  ['dev', { LANEFOLD_AGENTS: 'keyless.mjs' }, /OPENAI_API_KEY.*missing_provider_key/],
  ['dev', { LANEFOLD_AGENTS: 'nowhere.mjs' }, /unknown_model/],
  ['dev --no-watch', { LANEFOLD_AGENTS: 'keyless.mjs' }, /OPENAI_API_KEY.*missing_provider_key/],
])('%s with %j exits with 2 before a database starts', async (command, env, expected) => {
  expect(await failure(command.split(' '), env)).toEqual({ code: 2, said: expect.stringMatching(expected) as string });
  expect(readdirSync(folder)).not.toContain('.lanefold');
});

test.each<[string, (url: URL) => void, RegExp]>([
  ['a closed port', (url) => (url.port = String(closed)), /ECONNREFUSED[^]*DATABASE_URL/],
  ['an unknown host', (url) => (url.hostname = 'no-such-host.invalid'), /ENOTFOUND[^]*DATABASE_URL/],
  ['a wrong password', (url) => (url.password = secret), /password authentication failed[^]*DATABASE_URL/],
  ['no such database', (url) => (url.pathname = '/none'), /"none" does not exist[^]*DATABASE_URL/],
])('DATABASE_URL with %s', async (_, change, expected) => {
  const url = new URL(database.url);
  change(url);
  const { code, said } = await failure(['worker'], { DATABASE_URL: url.href });
  expect([code, said]).toEqual([1, expect.stringMatching(expected)]);
});

test('DATABASE_URL with a socket that is not there', async () => {
  const { code, said } = await failure(['worker'], { DATABASE_URL: `postgres://u:${secret}@/db?host=/nowhere` });
  expect([code, said]).toEqual([1, expect.stringMatching(/Cannot reach PostgreSQL.*ENOENT.*\n.*DATABASE_URL/)]);
});

test('DATABASE_URL with a role that has no rights', async () => {
  const role = `stranger_${Date.now()}`;
  await database.pool.query(`create role ${role} login password '${secret}'`);
  try {
    const { code, said } = await failure(['worker'], { DATABASE_URL: urlAs(database.url, role, secret) });
    expect([code, said]).toEqual([1, expect.stringMatching(/permission denied[^]*lanefold roles/)]);
    expect(said).toContain('DATABASE_URL');
  } finally {
    await database.pool.query(`drop role ${role}`);
  }
});

test('REDIS_URL with a closed port: why, and what else to do', async () => {
  const env = { DATABASE_URL: database.url, REDIS_URL: `redis://:${secret}@127.0.0.1:${closed}` };
  const { code, said } = await failure(['api', '--port', '0'], env);
  expect([code, said]).toEqual([1, expect.stringMatching(/^lanefold: Redis .*ECONNREFUSED.*\nhint: .*REDIS_URL/m)]);
});

test('LANEFOLD_HOST that is no address of this machine', async () => {
  const env = { DATABASE_URL: database.url, LANEFOLD_HOST: 'no-such-host.invalid', LANEFOLD_API_KEY: secret };
  const { code, said } = await failure(['api', '--port', '0'], env);
  expect([code, said]).toEqual([1, expect.stringMatching(/listen_failed[^]*LANEFOLD_HOST/)]);
});

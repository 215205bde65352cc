// @module-tag slow
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

let database: TestDatabase;
let env: Record<string, string>;
let dir: string;
const file = (name: string) => path.join(dir, name);
const verify = (...args: string[]) => callCli(['verify', ...args], { env });
const withHeads = () => ['--heads', file('heads.jsonl'), '--key', file('seal.pub')];

beforeAll(async () => {
  database = await createDatabase();
  env = { DATABASE_URL: database.url };
  dir = await mkdtemp(path.join(tmpdir(), 'lanefold-verify-'));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await writeFile(file('seal.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(file('seal.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
});
afterAll(async () => {
  await database?.drop();
  await rm(dir, { recursive: true });
});

test('says that nothing was verified, that all is well, or what happened to which thread', async () => {
  const nothing = await verify();
  expect(nothing).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('nothing was verified') });

  await callCli(['tenants', 'chain', 'acme'], { env });
  for (const id of ['a', 'b'])
    await database.pool.query('select lanefold.create_thread($1, $2)', [
      id,
      { tenant_id: 'acme', system_prompt: 'Be brief.' },
    ]);
  const heads = await callCli(['heads', '--key', file('seal.key')], { env });
  expect(JSON.parse(heads.stdout.split('\n')[0]!)).toMatchObject({ thread_id: 'a', tenant_id: 'acme', seq: 0 });
  await writeFile(file('heads.jsonl'), heads.stdout);
  const well = await verify(...withHeads());
  expect(well).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('verified 2 threads') });

  await database.pool.query('alter table lanefold._entry disable trigger append_only');
  await database.pool.query("update lanefold._entry set role = 'user' where thread_id = 'a'");
  await database.pool.query("update lanefold.thread set chained = false where id = 'a'");
  const altered = await verify(...withHeads());
  expect(altered).toMatchObject({ code: 1, stdout: 'a  entry 0  altered\na  unchained\n' });
  expect(await verify('b', ...withHeads())).toMatchObject({ code: 0, stdout: '' });
  const one = await verify('a', '--json', ...withHeads());
  expect(one.code).toBe(1);
  expect(JSON.parse(one.stdout)).toEqual([
    { thread_id: 'a', seq: 0, upto: 0, problem: 'altered' },
    { thread_id: 'a', seq: null, upto: null, problem: 'unchained' },
  ]);
});

test('refuses heads without a key, and files that cannot be read', async () => {
  await writeFile(file('broken.jsonl'), '{"threadId": \n');
  for (const args of [
    ['--heads', file('heads.jsonl')],
    ['--heads', file('nowhere'), '--key', file('seal.pub')],
    ['--heads', file('heads.jsonl'), '--key', file('nowhere')],
    ['--heads', file('broken.jsonl'), '--key', file('seal.pub')],
    ['--heads', file('heads.jsonl'), '--key', file('heads.jsonl')],
  ]) {
    const { code, stderr } = await verify(...args);
    expect([code, stderr], args.join(' ')).toEqual([2, expect.stringMatching(/\[(usage|invalid_input)\]/)]);
  }
});

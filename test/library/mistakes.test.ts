import { createLanefold, defineAgent, defineTool, type LanefoldOptions, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate } from '../../src/database/store/schema/migrate.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const thrown = (call: () => unknown) =>
  (async () => call())().then(
    () => expect.fail('did not throw'),
    (error: unknown) => error,
  );
const echo = { name: 'echo', model: 'scripted:echo' };
const tool = { name: 'look', input: { type: 'object' as const }, execute: () => '' };

test.each<[string, () => unknown, string, string]>([
  ['defineAgent', () => defineAgent({ ...echo, instruction: 'Help.' } as never), 'invalid_agent', 'instructions'],
  ['defineTool', () => defineTool({ ...tool, timeOutMs: 5 } as never), 'invalid_tool', 'timeoutMs'],
  ['createLanefold', () => createLanefold({ databaseURL: 'postgres://x' } as never), 'invalid_input', 'databaseUrl'],
])('%s refuses a key it does not know, and says which was meant', async (_, call, code, meant) => {
  expect(await thrown(call)).toMatchObject({ code, hint: `Did you mean "${meant}"?` });
});

test.each<[string, LanefoldOptions, RegExp]>([
  ['a time that is none', { unattendedMs: 0 }, /unattendedMs must be a whole number from 1 to 86400000/],
  ['no URL', { databaseUrl: 'notaurl' }, /databaseUrl is not a valid URL/],
  ['a URL of several hosts', { databaseUrl: 'postgres://u:secret@a:1,b:2/db' }, /databaseUrl names several hosts/],
  ['the same without ports', { databaseUrl: 'postgres://a,b/db' }, /databaseUrl names several hosts/],
  ['the same as a parameter', { databaseUrl: 'postgres:///db?host=a,b' }, /databaseUrl names several hosts/],
  ['the same for reading', { databaseUrl: 'postgres://a/db', readUrl: 'postgres://b,c/db' }, /readUrl names several/],
  ['a URL of another database', { databaseUrl: 'mysql://root:secret@localhost/db' }, /scheme "mysql:"/],
  [
    'no URL of Redis',
    { databaseUrl: 'postgres://localhost/x', redisUrl: 'http://x' },
    /redisUrl has the scheme "http:"/,
  ],
])('createLanefold refuses %s at once', async (_, options, message) => {
  const error = await thrown(() => createLanefold(options));
  expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringMatching(message) as string });
  expect(JSON.stringify(error)).not.toContain('secret');
});

test.each([
  ['one agent', defineAgent(echo)],
  ['a record', { echo: defineAgent(echo) }],
])('createLanefold refuses %s in place of a list of agents', async (_, agents) => {
  expect(await thrown(() => startLanefold({ agents: agents as never }))).toMatchObject({
    code: 'invalid_agent',
    message: 'agents is not a list.',
  });
});

test('migrate refuses what is no URL of PostgreSQL', async () => {
  expect(await thrown(() => migrate('notaurl'))).toMatchObject({ code: 'invalid_input' });
});

describe('on a Lanefold', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent(echo)] });
  });
  afterAll(() => lanefold?.close());

  test.each<[string, (on: TestLanefold) => unknown, string]>([
    ['enqueue', (on) => on.runs.enqueue({ agent: 'echo', input: 'a', requestID: 'r' } as never), 'requestId'],
    ['startWorker', (on) => on.startWorker({ concurency: 2 } as never), 'concurrency'],
    ['work', (on) => on.work({ maxMS: 5_000 } as never), 'maxMs'],
    ['startServer', (on) => on.startServer({ prot: 0 } as never), 'port'],
  ])('%s refuses a key it does not know', async (_, call, meant) => {
    expect(await thrown(() => call(lanefold))).toMatchObject({
      code: 'invalid_input',
      hint: `Did you mean "${meant}"?`,
    });
  });

  test.each<[string, (on: TestLanefold, run: RunRef) => unknown]>([
    ['get', (on, run) => on.runs.get(run)],
    ['wait', (on, run) => on.runs.wait(run, { timeoutMs: 2_000 })],
    ['events', (on, run) => on.runs.events(run)],
    ['stream', async (on, run) => void (await on.runs.stream(run)[Symbol.asyncIterator]().next())],
  ])('runs.%s refuses a run without its thread', async (_, call) => {
    expect(await thrown(() => call(lanefold, 'run_x' as never))).toMatchObject({ code: 'invalid_input' });
    expect(await thrown(() => call(lanefold, { id: 'run_x' } as never))).toMatchObject({ code: 'invalid_id' });
  });

  test('work names itself and its own options if it refuses one', async () => {
    expect(await thrown(() => lanefold.work({ untilIdle: true } as never))).toMatchObject({
      message: 'work does not take "untilIdle".',
      hint: expect.stringContaining('maxMs, ') as string,
    });
  });

  test.each<[string, object]>([
    ['concurrency', { concurrency: 0 }],
    ['concurrency', { concurrency: 1.5 }],
    ['concurrency', { concurrency: '4' }],
    ['keepJobs', { keepJobs: -1 }],
    ['maxClaimsWithoutProgress', { maxClaimsWithoutProgress: 0 }],
  ])('startWorker refuses a number for %s that cannot be: %o', async (name, options) => {
    expect(await thrown(() => lanefold.startWorker(options))).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(`${name} must be a whole number`) as string,
    });
  });

  test('startServer refuses a port that does not exist', async () => {
    expect(await thrown(() => lanefold.startServer({ port: 99_999 }))).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('from 0 to 65535') as string,
    });
  });
});

test('everything after close says that it was closed', async () => {
  const lanefold = await startLanefold({ agents: [defineAgent(echo)] });
  const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'a' });
  await lanefold.close();
  const calls = [
    () => lanefold.runs.get(run),
    () => lanefold.runs.wait(run),
    () => lanefold.runs.enqueue({ agent: 'echo', input: 'b' }),
    () => lanefold.threads.create(),
    () => lanefold.startWorker(),
  ];
  for (const call of calls) expect(await thrown(call)).toMatchObject({ code: 'lanefold_closed' });
});

// @module-tag slow
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createLanefold, type Lanefold } from 'lanefold';
import { startCli } from '../cli/cli.ts';
import agents from '../cli/fixtures/agents.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let lanefold: Lanefold;
beforeAll(async () => {
  database = await createDatabase();
  lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null, agents });
});
afterAll(async () => {
  await lanefold?.close();
  await database?.drop();
});

test('the entry point of a worker container executes runs and stops on SIGTERM', async () => {
  const worker = startCli(['--json'], {
    program: 'dist/workers/worker.js',
    env: { DATABASE_URL: database.url, LANEFOLD_AGENTS: path.resolve('test/cli/fixtures/agents.ts') },
  });
  onTestFinished(async () => {
    worker.process.kill('SIGKILL');
    await worker.ended;
  });
  await worker.says('stdout', 'ready');
  const run = await lanefold.runs.enqueue({ agent: 'guide', input: 'How is the weather in Oslo?' });
  expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
  worker.process.kill('SIGTERM');
  const { code, stdout } = await worker.ended;
  expect(code).toBe(0);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(lines).toMatchObject([
    { event: 'ready', agents: ['guide', 'slow', 'stuck'], queue: 'postgres' },
    { event: 'run_ended', run_id: run.id, status: 'completed' },
    { event: 'stopping', signal: 'SIGTERM' },
    { event: 'stopped', released: 0 },
  ]);
});

test('the compose file starts workers with that entry point', () => {
  expect(readFileSync('docker-compose.yml', 'utf8')).toContain("entrypoint: ['node', 'dist/workers/worker.js']");
});

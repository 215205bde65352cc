import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';
import { startCli } from './cli.ts';

const empty = {
  REDIS_URL: '',
  LANEFOLD_AGENTS: '',
  LANEFOLD_API_KEY: '',
  LANEFOLD_DIR: '',
  LANEFOLD_DIRECT_URL: '',
  LANEFOLD_HOST: '',
  LANEFOLD_PORT: '',
  LANEFOLD_QUEUE_SHARDS: '',
  LANEFOLD_STOP_GRACE_MS: '',
  LANEFOLD_TOKEN_SECRET: '',
};

describe('an empty variable counts as unset', () => {
  test('for the database and its folder', async () => {
    const { code, stderr } = await callCli(['thread', 't'], { env: { ...empty, DATABASE_URL: '' }, cwd: '/' });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('No database is configured or running in .lanefold. [database_unreachable]'),
    ]);
  });

  describe('for a program that', { tags: 'slow' }, () => {
    let database: TestDatabase;
    let env: Record<string, string>;
    beforeAll(async () => {
      database = await createDatabase();
      env = { ...empty, DATABASE_URL: database.url };
    });
    afterAll(() => database.drop());

    test('develops', async () => {
      const dev = startCli(['dev'], { env });
      await dev.says('stdout', 'Ctrl-C stops it.');
      dev.process.kill('SIGTERM');
      const { code, stdout } = await dev.ended;
      expect([code, stdout]).toEqual([0, expect.stringContaining('http://127.0.0.1:')]);
    });

    test('works', async () => {
      const worker = startCli(['worker'], { env });
      await worker.says('stderr', 'ready');
      worker.process.kill('SIGTERM');
      expect((await worker.ended).code).toBe(0);
    });
  });
});

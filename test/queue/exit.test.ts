import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { noRedis, queueBackend } from '../support/lanefold.ts';

const script = path.join(inject('packageDir'), 'dist/test/queue/fixtures/idle-worker.js');

test.skipIf(noRedis())('a process can exit as soon as its idle worker is closed', async () => {
  const database = await createDatabase();
  const redis = queueBackend() === 'redis' ? [inject('redisUrl')] : [];
  // the time limits of its connections are four times as long
  const exit = promisify(execFile)(process.execPath, [script, database.url, ...redis], { timeout: 30_000 });
  await expect(exit).resolves.toBeDefined();
  await database.drop();
});

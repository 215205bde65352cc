import { randomBytes } from 'node:crypto';
import { createLanefold, type Lanefold, type LanefoldOptions } from 'lanefold';
import { inject } from 'vitest';
import { createDatabase, type TestDatabase } from './database.ts';

/** The backend of the project this suite runs in. */
export const queueBackend = (): 'postgres' | 'redis' =>
  process.env['LANEFOLD_TEST_QUEUE'] === 'redis' ? 'redis' : 'postgres';

/** True in the Redis project on a machine without Redis. Use as `describe.skipIf(noRedis())`. */
export const noRedis = (): boolean => queueBackend() === 'redis' && !inject('redisUrl');

export interface TestLanefold extends Lanefold {
  database: TestDatabase;
  /** What another process needs to join: same database, queue and prefix. */
  options: LanefoldOptions;
}

/** A Lanefold on a database and queue of its own; `close` ends its workers and drops the database. */
export async function startLanefold(options: LanefoldOptions = {}): Promise<TestLanefold> {
  const database = await createDatabase();
  const own: LanefoldOptions = {
    databaseUrl: database.url,
    redisUrl: queueBackend() === 'redis' ? inject('redisUrl') : null,
    queuePrefix: `t${randomBytes(4).toString('hex')}`,
    ...options,
  };
  const lanefold = await createLanefold(own);
  return {
    ...lanefold,
    database,
    options: own,
    async close() {
      await lanefold.close();
      await database.drop();
    },
  };
}

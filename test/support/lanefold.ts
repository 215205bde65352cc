import { randomBytes } from 'node:crypto';
import { createLanefold, type Lanefold, type LanefoldOptions } from 'lanefold';
import { inject } from 'vitest';
import { createDatabase, type TestDatabase } from './database.ts';

/** The queue backend of the current Vitest project. */
export const queueBackend = (): 'postgres' | 'redis' =>
  process.env['LANEFOLD_TEST_QUEUE'] === 'redis' ? 'redis' : 'postgres';

/** Whether this is the Redis project on a machine without Redis. Use as `describe.skipIf(noRedis())`. */
export const noRedis = (): boolean => queueBackend() === 'redis' && !inject('redisUrl');

export interface TestLanefold extends Lanefold {
  database: TestDatabase;
  /** Options with which another process joins: same database, queue and prefix. */
  options: LanefoldOptions;
}

/** Creates a Lanefold with its own database and queue; `close` stops its workers and drops the database. */
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

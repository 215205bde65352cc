import { createLanefold, defineAgent, migrate } from 'lanefold';
import { expect, inject, test } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { noRedis, queueBackend } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

test.skipIf(noRedis() || queueBackend() !== 'redis')(
  'with the queue in Redis, a process that is client and worker needs no tables of the queue',
  async () => {
    const database = await createDatabase({ empty: true });
    await migrate(database.url, { queueTables: false });
    const lanefold = await createLanefold({
      databaseUrl: database.url,
      redisUrl: inject('redisUrl'),
      queuePrefix: 'redis-alone',
      privateQueue: true,
      agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })],
    });
    try {
      await lanefold.startWorker();
      await until('the worker starts a run as soon as it is accepted', async () => {
        const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'Hello' });
        expect((await lanefold.runs.wait(run)).status).toBe('completed');
        return run.status === 'running';
      });
    } finally {
      await lanefold.close();
      await database.drop();
    }
  },
);

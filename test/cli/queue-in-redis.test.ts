// @module-tag long
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { migrate } from '../../src/database/store/schema/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

describe.skipIf(!inject('redisUrl'))('with the queue in Redis, in a database without queue tables', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase({ empty: true });
    await migrate(database.url, { queueTables: false });
  });
  afterAll(() => database?.drop());

  // these need no queue, and have no option for one
  test.each(['workers', 'runs', 'threads'])('lanefold %s works', async (command) => {
    const env = { DATABASE_URL: database.url, REDIS_URL: inject('redisUrl') };
    expect(await callCli([command], { env })).toMatchObject({ code: 0 });
  });
});

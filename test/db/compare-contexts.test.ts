import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareContexts, rememberContexts } from '../../src/database/store/schema/migrate.ts';
import { openLog, type TestLog } from './helpers.ts';

let log: TestLog;
let client: pg.Client;
beforeAll(async () => {
  log = await openLog();
  client = new pg.Client({ connectionString: log.url });
  await client.connect();
  for (const id of ['kept', 'changed']) {
    await log.threads.create({ id, systemPrompt: 'Be brief.' });
    await log.threads.append(id, [{ message: { role: 'user', content: id } }]);
  }
});
afterAll(async () => {
  await client.end();
  await log.drop();
});

test('contexts that stayed as they were are forgotten once they were compared', async () => {
  await rememberContexts(client);
  await compareContexts(client);
  const { rows } = await client.query("select to_regclass('lanefold._context_before') as left");
  expect(rows).toEqual([{ left: null }]);
  await compareContexts(client);
});

test('a context that differs is named, by every attempt until it is as it was', async () => {
  await rememberContexts(client);
  await log.threads.append('changed', [{ message: { role: 'user', content: 'meanwhile' } }]);
  const differs = { code: 'database_error', details: { thread: 'changed', lane: 'default' } };
  await expect(compareContexts(client)).rejects.toMatchObject(differs);
  await expect(compareContexts(client)).rejects.toMatchObject(differs);
});

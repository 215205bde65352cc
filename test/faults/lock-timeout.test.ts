import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sessionsView } from '../support/database.ts';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';

let lanefold: TestLanefold;
/** Connects with a short lock_timeout. */
let impatient: Lanefold;
let holder: pg.Client;
let watcher: pg.Client;
const calling = deferred();
const released = deferred();

const model = fakeModel(async () => {
  calling.resolve();
  await released.promise;
  return { text: 'Done.' };
});

beforeAll(async () => {
  lanefold = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'fake' })], models: { fake: model } });
  const url = new URL(lanefold.database.url);
  url.searchParams.set('options', '-c lock_timeout=100');
  impatient = await createLanefold({ ...lanefold.options, databaseUrl: url.href, directUrl: lanefold.database.url });
  const connectionString = lanefold.database.url;
  holder = new pg.Client({ connectionString });
  watcher = new pg.Client({ connectionString });
  await Promise.all([holder.connect(), watcher.connect()]);
});
afterAll(async () => {
  await Promise.all([holder?.end(), watcher?.end()]);
  await impatient?.close();
  await lanefold?.close();
});

/** The start time of the commit that waits for the lock. */
async function waitingSince(): Promise<string | undefined> {
  const { rows } = await watcher.query<{ since: string }>(
    `select query_start::text as since from ${sessionsView}
     where datname = current_database() and query like '%commit_step%' and wait_event_type = 'Lock'`,
  );
  return rows[0]?.since;
}

test('a commit that hits a lock timeout is retried, and the run continues', async () => {
  await impatient.startWorker();
  const run = await lanefold.runs.enqueue({ agent: 'a', input: 'go' });
  await calling.promise;
  await holder.query('begin');
  await holder.query('select 1 from lanefold.thread where id = $1 for update', [run.threadId]);
  released.resolve();
  const first = await until('the commit waits for the lock', waitingSince);
  await until('its retry waits for the lock', async () => {
    const again = await waitingSince();
    return again !== undefined && again !== first;
  });
  await holder.query('commit');
  expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Done.' });
  await expectSound(lanefold, run.threadId);
});

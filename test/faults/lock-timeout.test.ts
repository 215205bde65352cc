import { defineAgent } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';

let bench: TestLanefold;
let other: pg.Client;
let release!: () => void;
const held = new Promise<void>((resolve) => (release = resolve));
let asked!: () => void;
const calling = new Promise<void>((resolve) => (asked = resolve));

const model = fakeModel(async () => {
  asked();
  await held;
  return { text: 'Done.' };
});

beforeAll(async () => {
  bench = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'fake' })], models: { fake: model } });
  other = new pg.Client({ connectionString: bench.database.url });
  await other.connect();
});
afterAll(async () => {
  await other?.end();
  await bench?.close();
});

test('a commit that a lock timeout turns away is tried again, and the run does not notice', async () => {
  // for the connections to come: the worker opens its own after this
  await other.query(`alter database ${pg.escapeIdentifier(new URL(bench.database.url).pathname.slice(1))} set lock_timeout = '100ms'`);
  await bench.startWorker();
  const run = await bench.runs.enqueue({ agent: 'a', input: 'go' });
  await calling;
  await other.query('begin');
  await other.query('select 1 from lanefold.thread where id = $1 for update', [run.threadId]);
  release();
  const waiting = async (): Promise<string | undefined> => {
    const { rows } = await other.query<{ started: string }>(
      `select query_start::text as started from pg_stat_activity
       where datname = current_database() and query like '%commit_step%' and wait_event_type = 'Lock' and pid <> pg_backend_pid()`,
    );
    return rows[0]?.started;
  };
  const first = await until(waiting);
  await until(async () => {
    const again = await waiting();
    return again !== undefined && again !== first;
  });
  await other.query('commit');
  expect(await bench.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Done.' });
  await expectSound(bench, run.threadId);
});

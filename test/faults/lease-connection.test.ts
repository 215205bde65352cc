// @module-tag slow
import { createLanefold, defineAgent, type Lanefold, type RunHandle } from 'lanefold';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitingForLock } from '../support/database.ts';
import { fakeModel, type FakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { startOutage, type Outage } from '../support/outage.ts';
import { deferred, until } from '../support/until.ts';

const leaseMs = 3_000;
const poolSize = 2;

let front: TestLanefold;
/** Reaches the database through the proxy. */
let back: Lanefold;
let rival: Lanefold;
let database: Outage;
let holder: pg.Client;
let model: FakeModel;
let gates: Record<string, ReturnType<typeof deferred<void>>>;

beforeEach(async () => {
  gates = { long: deferred(), short: deferred() };
  model = fakeModel(async ({ prompt }) => {
    const { content } = prompt.at(-1)! as { content: { text: string }[] };
    await gates[content[0]!.text]!.promise;
    return { text: 'done' };
  });
  front = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'fake' })], models: { fake: model } });
  database = await startOutage(front.database.url);
  back = await createLanefold({
    ...front.options,
    databaseUrl: database.url,
    directUrl: front.database.url,
    poolSize,
  });
  rival = await createLanefold(front.options);
  holder = new pg.Client({ connectionString: front.database.url });
  await holder.connect();
});
afterEach(async () => {
  for (const gate of Object.values(gates)) gate.resolve();
  await holder?.end();
  database?.end();
  await rival?.close();
  await back?.close();
  await front?.close();
  await database?.close();
});

/** Starts the runs in `back`, and then a second worker that would take over what it loses. */
async function start(inputs: string[]): Promise<RunHandle[]> {
  await back.startWorker({ leaseMs, sweepMs: 200, onError: () => {} });
  const runs = await Promise.all(inputs.map((input) => front.runs.enqueue({ agent: 'a', input })));
  await until('all models are called', () => model.calls.length === inputs.length);
  await rival.startWorker({ leaseMs, sweepMs: 200 });
  return runs;
}

async function expectRenewed(run: RunHandle): Promise<void> {
  const read = async () => {
    const { rows } = await front.database.pool.query<{ until: number; lease: number }>(
      'select extract(epoch from lease_until)::float8 * 1000 as until, lease::int from lanefold._run where thread_id = $1',
      [run.threadId],
    );
    return rows[0]!;
  };
  const first = await read();
  await until('the lease has been extended by more than a whole lease, or lost', async () => {
    const now = await read();
    return now.lease !== first.lease || now.until - first.until > leaseMs;
  });
  expect((await read()).lease).toBe(first.lease);
}

test('commits that wait for locked threads hold up no lease', async () => {
  const [long, ...short] = await start(['long', ...Array.from({ length: poolSize + 1 }, () => 'short')]);
  await holder.query('begin');
  for (const { threadId } of short)
    await holder.query('select from lanefold.thread where id = $1 for update', [threadId]);
  gates['short']!.resolve();
  await until('commits occupy the half of the pool that they may', async () => {
    const { rows } = await front.database.pool.query(waitingForLock);
    return rows.length >= Math.max(1, Math.floor(poolSize / 2));
  });
  await expectRenewed(long!);
  await holder.query('rollback');
  gates['long']!.resolve();
  for (const run of [long!, ...short]) expect(await front.runs.wait(run)).toMatchObject({ status: 'completed' });
  expect(model.calls).toHaveLength(1 + short.length);
});

test('a connection that has gone silent costs no lease: the next renewal uses a new one', async () => {
  const [run] = await start(['long']);
  database.swallow();
  await expectRenewed(run!);
});

// @module-tag slow
import { defineAgent, defineTool, waitFor, type RunRef } from 'lanefold';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { contextOf, expectSound, ledgerOf } from '../../support/log.ts';
import { deferred, until } from '../../support/until.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

type Ctx = { threadId: string; signal: AbortSignal };

let lanefold: Runtime;
/** What each tool does, by name. */
const acts = new Map<string, (ctx: Ctx) => unknown>();
const tool = (name: string, replay: 'safe' | 'readOnly') =>
  defineTool({ name, input: { type: 'object' }, replay, execute: (_, ctx) => acts.get(name)!(ctx) });

beforeAll(async () => {
  const tools = [tool('read', 'readOnly'), tool('look', 'readOnly'), tool('write', 'safe')];
  lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, tools, toolMaxRetries: 0 })], {
    worker: { sweepMs: 50 },
  });
});
beforeEach(() => acts.clear());
afterAll(() => lanefold?.close());

const calling = (...names: string[]) => ({ calls: names.map((name, n) => ({ id: `c${n}`, name })) });
const storedCalls = async (run: RunRef) => (await ledgerOf(lanefold, run.threadId)).length;

/** A run whose model asks for these calls while nothing can be written to its thread, until `free` is called. */
async function withHeldThread(...names: string[]) {
  const asked = deferred<void>();
  const answer = deferred<void>();
  const model = lanefold.model(async (_, turn) => {
    if (turn > 0) return { text: 'done' };
    asked.resolve();
    await answer.promise;
    return calling(...names);
  });
  const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'go' });
  await asked.promise;
  const client = await lanefold.database.pool.connect();
  await client.query('begin');
  await client.query('select from lanefold.thread where id = $1 for update', [run.threadId]);
  answer.resolve();
  const free = async (statement?: string) => {
    if (statement) await client.query(statement, [run.threadId]);
    await client.query('commit');
    client.release();
  };
  return { run, free };
}

test('calls that only read begin before the answer that makes them is stored', async () => {
  const began = deferred<void>();
  acts.set('read', () => (began.resolve(), 'found'));
  const { run, free } = await withHeldThread('read');
  await began.promise;
  expect(await storedCalls(run)).toBe(0);
  await free();
  expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', step: 3 });
  expect((await contextOf(lanefold, run.threadId)).slice(2)).toEqual([
    ['tool', 'found'],
    ['assistant', 'done'],
  ]);
  await expectSound(lanefold, run.threadId);
});

test.each([[['write']], [['read', 'write']]])('calls of %j begin after it', async (names) => {
  const stored: number[] = [];
  const ran = async ({ threadId }: Ctx) => void stored.push((await ledgerOf(lanefold, threadId)).length);
  for (const name of names) acts.set(name, ran);
  const model = lanefold.model([calling(...names), { text: 'done' }]);
  const { threadId } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
  expect(stored).toEqual(names.map(() => names.length));
  await expectSound(lanefold, threadId);
});

test('calls that began are aborted if their worker may not store the answer', async () => {
  const began = deferred<void>();
  const aborted = deferred<unknown>();
  acts.set('read', ({ signal }) => {
    if (acts.has('again')) return 'found';
    acts.set('again', () => {});
    signal.addEventListener('abort', () => aborted.resolve(signal.reason));
    began.resolve();
    return new Promise(() => {});
  });
  const { run, free } = await withHeldThread('read', 'look');
  acts.set('look', () => 'seen');
  await began.promise;
  // another worker has the run by then
  await free(
    `update lanefold._run set lease = lease + 1, lease_until = now() - interval '1 hour' where thread_id = $1`,
  );
  expect(await aborted.promise).toMatchObject({ code: 'lease_lost' });
  expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
  // the answer was never stored: the model was asked again, and then called nothing
  expect(await storedCalls(run)).toBe(0);
  await expectSound(lanefold, run.threadId);
});

test('an outcome is stored when the run waits for a sibling', async () => {
  const reads: string[] = [];
  acts.set('read', ({ threadId }) => (reads.push(threadId), 'found'));
  acts.set('look', ({ threadId }) => waitFor(`e-${threadId}`));
  const model = lanefold.model([calling('read', 'look'), { text: 'done' }]);
  const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'go' });
  await until('the run waits', async () => (await lanefold.runs.get(run)).status === 'suspended');
  expect(await ledgerOf(lanefold, run.threadId)).toMatchObject([
    { status: 'ok', result: 'found' },
    { status: 'waiting' },
  ]);
  await lanefold.events.send(`e-${run.threadId}`, { payload: 'come' });
  expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
  expect(reads).toEqual([run.threadId]);
  await expectSound(lanefold, run.threadId);
});

// @module-tag long
import { agentTool, defineAgent, type RunHandle, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, ExternalCall } from '../faults/fixtures/call-server.ts';
import { patient, quick, startHarness, type FaultHarness } from '../faults/harness.ts';
import { sqlOf } from '../limits/sql.ts';
import { onCitus } from '../support/services.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { deferred, until } from '../support/until.ts';
import { atRest, hoursLater, startTree } from '../waits/trees.ts';
import { actionsOf } from './actions.ts';
import { expectFollowed } from './follow.ts';
import { recordedOn, startRecording } from './record.ts';
import { canCheck } from './spin.ts';

const script = (call: ExternalCall): Answer => {
  if (call.kind !== 'model') return { result: 'found' };
  return call.turn === 0 ? { calls: [{ id: 'c0', name: 'look' }] } : { text: 'Done.' };
};
const forever = new Promise<never>(() => {});

describe.skipIf(onCitus || !canCheck())('the model can do what a real run did', () => {
  let harness: FaultHarness;
  beforeAll(async () => {
    harness = await startHarness();
    await startRecording(harness.database.pool);
  });
  afterAll(() => harness?.close());

  const lane = (threadId: string, world: readonly string[], expected: readonly string[]) =>
    expectFollowed(harness.database.pool, [threadId], ['LANE', ...world], expected);
  const start = (threadId: string, options = {}): Promise<RunHandle> =>
    harness.runs.enqueue({ agent: 'fault', input: 'go', threadId, createThread: true, ...options });
  const ended = (run: RunRef) => harness.runs.wait(run);

  test('undisturbed', async () => {
    harness.callServer.respond = script;
    const worker = await harness.startWorker(patient);
    await ended(await start('plain'));
    await worker.stop();
    await lane('plain', ['FAULTS 0'], ['claim', 'commit', 'end']);
  });

  test('whose worker was killed', async () => {
    const child = await harness.spawnWorker();
    harness.callServer.respond = (call) =>
      call.worker === 'child' && call.kind === 'tool' ? child.kill().then(() => forever) : script(call);
    const run = await start('killed');
    await child.waitForExit();
    await harness.expireLease('killed');
    const rescuer = await harness.startWorker(quick);
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    await rescuer.stop();
    await lane('killed', ['FAULTS 2'], ['queue_again', 'claim', 'end']);
  });

  test('that took input, before another run that waited for it', async () => {
    const asked = deferred();
    const answer = deferred();
    harness.callServer.respond = async () => {
      asked.resolve();
      await answer.promise;
      return { text: 'Done.' };
    };
    const worker = await harness.startWorker(patient);
    const first = await start('busy');
    await asked.promise;
    const second = await start('busy', { busy: 'wait' });
    await harness.runs.steer('busy', 'and this');
    answer.resolve();
    await ended(first);
    await ended(second);
    await worker.stop();
    await lane('busy', ['CALLER', 'FAULTS 0'], ['input', 'promote', 'end']);
  });

  test('that was cancelled, before another run that waited for it', async () => {
    const asked = deferred();
    harness.callServer.respond = (call) => {
      if (call.userMessages !== 1) return { text: 'Done.' };
      asked.resolve();
      return forever;
    };
    const worker = await harness.startWorker(patient);
    const first = await start('cancelled');
    await asked.promise;
    const second = await start('cancelled', { busy: 'wait' });
    await harness.runs.cancel(first);
    expect(await ended(first)).toMatchObject({ status: 'cancelled' });
    await ended(second);
    await worker.stop();
    await lane('cancelled', ['CALLER', 'FAULTS 0'], ['cancel', 'promote', 'end']);
  });

  test('whose worker stopped', async () => {
    const asked = deferred();
    harness.callServer.respond = () => {
      asked.resolve();
      return forever;
    };
    const worker = await harness.startWorker(patient);
    const run = await start('stopped');
    await asked.promise;
    await worker.stop({ graceMs: 0 });
    harness.callServer.respond = script;
    const next = await harness.startWorker(patient);
    await ended(run);
    await next.stop();
    await lane('stopped', ['FAULTS 1'], ['release', 'claim', 'end']);
  });

  test('while a caller wrote to another lane of its thread', async () => {
    const asked = deferred();
    const answer = deferred();
    harness.callServer.respond = async (call) => {
      asked.resolve();
      await answer.promise;
      return script(call);
    };
    const worker = await harness.startWorker(patient);
    const run = await start('written');
    await asked.promise;
    await harness.threads.append('written', [
      { kind: 'ai_message', contextRef: 'aside', payload: { role: 'user', content: 'By the way.' } },
    ]);
    answer.resolve();
    await ended(run);
    await worker.stop();
    await lane('written', ['CALLER', 'FAULTS 0'], ['claim', 'append', 'commit', 'end']);
  });
});

describe.skipIf(onCitus || !canCheck())('the model can do what a tree of real runs did', () => {
  let trees: FaultHarness;
  beforeAll(async () => {
    trees = await startHarness({}, { trees: true });
    await startRecording(trees.database.pool);
  });
  afterAll(() => trees?.close());

  const plan = { name: 'root', rounds: [[{ do: 'ask' as const, plan: { name: 'leaf', rounds: [] } }]] };
  const tree = async (root: RunRef, world: readonly string[], expected: readonly string[]) => {
    const { runs } = await trees.runs.tree(root);
    const threads = runs.map(({ threadId }) => threadId);
    expect(threads).toHaveLength(2);
    await expectFollowed(trees.database.pool, threads, ['CHILD', ...world], expected);
  };

  test('undisturbed, several at a time', async () => {
    const worker = await trees.startWorker(patient);
    const roots = await Promise.all(Array.from({ length: 3 }, () => startTree(trees, plan)));
    for (const root of roots) expect(await trees.runs.wait(root)).toMatchObject({ status: 'completed' });
    await worker.stop();
    for (const root of roots) await tree(root, ['FAULTS 0'], ['wait', 'suspend', 'resolve', 'go_on']);
  });

  // what it left undone is found again, and only its run may have to be taken over: one fault of the model
  test.each(['enqueue_run:1', 'end_child:1'])('whose worker died before %s', async (statement) => {
    const dying = await trees.spawnWorker({ dieBefore: statement });
    const root = await startTree(trees, plan);
    await until(`the worker dies before ${statement}`, () => dying.exited);
    await hoursLater(trees);
    const rescuer = await trees.startWorker(patient);
    expect(await trees.runs.wait(root)).toMatchObject({ status: 'completed' });
    await atRest(trees);
    await rescuer.stop();
    // a child that ends early enough leaves its parent nothing to be suspended for
    await tree(root, ['FAULTS 1'], ['wait', 'resolve', 'end']);
  });
});

describe.skipIf(onCitus || !canCheck())('the model can do what two real runs did', () => {
  let lanefold: TestLanefold;
  let model: TypedModel;
  beforeAll(async () => {
    model = typedModel();
    const typist = defineAgent({ name: 'typist', model: 'typed:m' });
    const agents = [typist, defineAgent({ name: 'lead', model: 'typed:m', tools: [agentTool(typist)] })];
    lanefold = await startLanefold({ agents, models: { typed: () => model } });
    await startRecording(lanefold.database.pool);
    await lanefold.startWorker({ ...patient, concurrency: 8 });
  });
  afterAll(() => lanefold?.close());

  const ask = (limitKeys = {}) => lanefold.runs.enqueue({ agent: 'typist', input: 'go', limitKeys });

  test('of which one had started the other, and was cancelled', async () => {
    const parent = await lanefold.runs.enqueue({ agent: 'lead', input: 'go' });
    (await model.next()).stop({ id: 'c0', name: 'ask_typist', args: { task: 'type' } });
    await model.next();
    await until('the parent is suspended', async () => (await lanefold.runs.get(parent)).status === 'suspended');
    const child = (await lanefold.runs.tree(parent)).runs[1]!;
    expect(await lanefold.runs.cancel(parent)).toMatchObject({ status: 'cancelled' });
    expect(await lanefold.runs.wait(child)).toMatchObject({ status: 'cancelled' });
    const threads = [parent.threadId, child.threadId];
    const expected = ['wait', 'suspend', 'cancel', 'end'];
    await expectFollowed(lanefold.database.pool, threads, ['CHILD', 'CALLER', 'FAULTS 0'], expected);
  });

  test('that shared a limit with room for one', async () => {
    const sql = await sqlOf(lanefold);
    await sql.setLimit('room', { kind: 'concurrency', scope: { account: '*' }, amount: 1 });
    const first = await ask({ account: 'acme' });
    const keyboard = await model.next();
    const second = await ask({ account: 'acme' });
    await until('the second run waits', async () => (await lanefold.runs.get(second)).limitedBy !== null);
    keyboard.type('one');
    keyboard.stop();
    const next = await model.next();
    next.type('two');
    next.stop();
    for (const run of [first, second]) expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    await sql.settled();
    await sql.close();
    const threads = [first.threadId, second.threadId];
    await expectFollowed(lanefold.database.pool, threads, ['LIMIT', 'FAULTS 0'], ['claim', 'commit', 'end']);
  });

  test('whose steps shared a transaction', async () => {
    const threads = await until('two steps share a transaction', async () => {
      const runs = [await ask(), await ask()];
      const keyboards = [await model.next(), await model.next()];
      for (const keyboard of keyboards) keyboard.type('Done.');
      for (const keyboard of keyboards) keyboard.stop();
      for (const run of runs) await lanefold.runs.wait(run);
      const both = runs.map(({ threadId }) => threadId);
      const actions = actionsOf(await recordedOn(lanefold.database.pool, both));
      return actions.some(({ together }) => together) && both;
    });
    await expectFollowed(lanefold.database.pool, threads, ['BATCH', 'STEPS 1', 'FAULTS 0'], ['commit', 'end']);
  });
});

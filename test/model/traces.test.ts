// @module-tag long
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunHandle, RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, ExternalCall } from '../faults/fixtures/call-server.ts';
import { patient, quick, startHarness, type FaultHarness } from '../faults/harness.ts';
import { onCitus } from '../support/services.ts';
import { noRedis } from '../support/lanefold.ts';
import { deferred } from '../support/until.ts';
import { startTree } from '../waits/trees.ts';
import { actionsOf, damaged, traceSource, type Action } from './actions.ts';
import { recordedOn, startRecording } from './record.ts';
import { canCheck, model, search } from './spin.ts';

const script = (call: ExternalCall): Answer => {
  if (call.kind !== 'model') return { result: 'found' };
  return call.turn === 0 ? { calls: [{ id: 'c0', name: 'look' }] } : { text: 'Done.' };
};
const forever = new Promise<never>(() => {});

describe.skipIf(noRedis() || onCitus || !canCheck())('the model can do what a real run did', () => {
  let harness: FaultHarness;
  let trees: FaultHarness;
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-traces-'));
    harness = await startHarness();
    trees = await startHarness({}, { trees: true });
    for (const { database } of [harness, trees]) await startRecording(database.pool);
  });
  afterAll(async () => {
    await harness?.close();
    await trees?.close();
    await rm(dir, { recursive: true, force: true });
  });

  const accepts = async (world: readonly string[], traces: readonly (readonly Action[])[]) => {
    const source = path.join(dir, 'trace.pml');
    await writeFile(source, traceSource(model, world, traces));
    return (await search([], { source, short: true })).broken === 'the_run_is_accepted';
  };
  /** The recorded run is accepted, and none of its damaged copies is. */
  const expectAccepted = async (
    from: FaultHarness,
    threadIds: readonly string[],
    world: readonly string[],
    expected: readonly string[],
  ) => {
    const recorded = await recordedOn(from.database.pool, threadIds);
    const kinds = recorded.map(({ kind }) => kind).filter((kind) => kind !== 'entry');
    expect(kinds).toEqual(expect.arrayContaining([...expected]));
    const actions = actionsOf(recorded);
    expect(await accepts(world, [actions]), kinds.join(' ')).toBe(true);
    expect(await accepts(world, damaged(actions)), 'a damaged copy').toBe(false);
  };
  const start = (threadId: string, options = {}): Promise<RunHandle> =>
    harness.runs.enqueue({ agent: 'fault', input: 'go', threadId, createThread: true, ...options });
  const ended = (run: RunRef) => harness.runs.wait(run);

  test('undisturbed', async () => {
    harness.callServer.respond = script;
    const worker = await harness.startWorker(patient);
    await ended(await start('plain'));
    await worker.stop();
    await expectAccepted(harness, ['plain'], ['LANE', 'FAULTS 0'], ['claim', 'commit', 'end']);
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
    await expectAccepted(harness, ['killed'], ['LANE', 'FAULTS 2'], ['requeue', 'claim', 'end']);
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
    await expectAccepted(harness, ['busy'], ['LANE', 'CALLER', 'FAULTS 0'], ['input', 'promote', 'end']);
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
    await expectAccepted(harness, ['cancelled'], ['LANE', 'CALLER', 'FAULTS 0'], ['cancel', 'promote', 'end']);
  });

  test('that waited for a child run', async () => {
    const worker = await trees.startWorker(quick);
    const root = await startTree(trees, {
      name: 'root',
      rounds: [[{ do: 'ask', plan: { name: 'leaf', rounds: [] } }]],
    });
    expect(await trees.runs.wait(root)).toMatchObject({ status: 'completed' });
    await worker.stop();
    const { runs } = await trees.runs.tree(root);
    const threads = runs.map(({ threadId }) => threadId);
    expect(threads).toHaveLength(2);
    await expectAccepted(trees, threads, ['CHILD', 'FAULTS 0'], ['wait', 'suspend', 'resolve', 'go_on']);
  });
});

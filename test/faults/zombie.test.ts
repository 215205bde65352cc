// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contextOf, eventsOf, expectSound } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';
import type { Answer, ExternalCall } from './fixtures/call-server.ts';
import { quick, startHarness, type FaultHarness } from './harness.ts';
import { shapeOf } from './log-shape.ts';

// one process is frozen with three runs
describe('a worker frozen beyond its lease', () => {
  let harness: FaultHarness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness?.close());

  test('writes nothing and starts nothing when it resumes, and its successor’s results stand', async () => {
    const held = { model: deferred<Answer>(), tool: deferred<Answer>(), shared: deferred<Answer>() };
    const succeeding = deferred<Answer>();
    const script = (call: ExternalCall): Answer => {
      if (call.kind !== 'model') return { result: `by ${call.worker}` };
      return call.turn === 0 ? { calls: [{ id: 'c0', name: 'look' }] } : { text: 'Done.' };
    };
    /** The zombie is frozen during a call of each thread; its successor makes the tool call of `shared` meanwhile. */
    harness.callServer.respond = (call) => {
      const threadId = call.threadId as keyof typeof held;
      if (threadId === 'shared' && call.kind === 'tool')
        return call.worker === 'zombie' ? held.shared.promise : succeeding.promise;
      return call.worker === 'zombie' && !resumed && threadId === call.kind ? held[threadId].promise : script(call);
    };
    let resumed = false;
    const callsOf = (threadId: string, kind: string) =>
      harness.callServer.calls.filter((call) => call.threadId === threadId && call.kind === kind);

    const zombie = await harness.spawnWorker({ name: 'zombie', worker: quick });
    const enqueue = (threadId: string) =>
      harness.runs.enqueue({ agent: 'fault', input: threadId, threadId, createThread: true });
    const [model, tool, shared] = [await enqueue('model'), await enqueue('tool'), await enqueue('shared')];
    await until(
      'the worker makes the calls',
      () =>
        [callsOf('model', 'model'), callsOf('tool', 'tool'), callsOf('shared', 'tool')].every(
          ({ length }) => length === 1,
        ) && zombie.lines.at(-1) === 'active 3',
    );
    zombie.process.kill('SIGSTOP');
    const rescuer = await harness.startWorker(quick);
    for (const run of [model, tool])
      expect(await harness.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Done.' });
    await until('the successor makes the call', () => callsOf('shared', 'tool').length === 2);

    const seen = async () =>
      Promise.all(
        [model, tool, shared].map(async ({ threadId }) => [
          await shapeOf(harness, threadId),
          await eventsOf(harness, threadId),
        ]),
      );
    const before = await seen();
    const calls = harness.callServer.calls.length;
    // the awaited responses are available as soon as the worker resumes
    resumed = true;
    held.model.resolve(script(callsOf('model', 'model')[0]!));
    held.tool.resolve(script(callsOf('tool', 'tool')[0]!));
    held.shared.resolve({ result: 'by the zombie' });
    zombie.process.kill('SIGCONT');
    await until('it drops the runs', () => zombie.lines.at(-1) === 'active 0');
    expect(await seen()).toEqual(before);
    expect(harness.callServer.calls).toHaveLength(calls);

    succeeding.resolve({ result: 'by the successor' });
    await harness.runs.wait(shared);
    await rescuer.stop();
    expect((await contextOf(harness, 'shared')).slice(3)).toEqual([
      ['tool', 'by the successor'],
      ['assistant', 'Done.'],
    ]);
    const next = await harness.runs.enqueue({ agent: 'fault', input: 'again', threadId: 'model' });
    expect(await harness.runs.wait(next)).toMatchObject({ status: 'completed' });
    await zombie.kill();
    for (const { threadId } of [model, tool, shared]) await expectSound(harness, threadId);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contextOf, eventsOf, expectSound } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';
import type { Answer, ExternalCall } from './fixtures/call-server.ts';
import { quick, startHarness, type FaultHarness } from './harness.ts';
import { shapeOf } from './log-shape.ts';

describe('a worker frozen beyond its lease', () => {
  let harness: FaultHarness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness?.close());

  test.each(['model', 'tool'])('during a %s call writes nothing and starts nothing when it resumes', async (kind) => {
    const held = deferred<Answer>();
    const script = (call: ExternalCall): Answer => {
      if (call.kind !== 'model') return { result: `by ${call.worker}` };
      return call.turn === 0 ? { calls: [{ id: 'c0', name: 'look' }] } : { text: 'Done.' };
    };
    harness.callServer.calls.length = 0;
    harness.callServer.respond = (call) => (call.worker === kind && call.kind === kind ? held.promise : script(call));

    const zombie = await harness.spawnWorker({ name: kind, worker: quick });
    const run = await harness.runs.enqueue({ agent: 'fault', input: 'go' });
    await until(
      'the worker makes the call',
      () => harness.callServer.count(kind) === 1 && zombie.lines.includes('active 1'),
    );
    zombie.process.kill('SIGSTOP');
    const rescuer = await harness.startWorker(quick);
    expect(await harness.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Done.' });
    await rescuer.stop();

    const log = await shapeOf(harness, run.threadId);
    const events = await eventsOf(harness, run.threadId);
    const calls = harness.callServer.calls.length;
    // the awaited response is available as soon as the worker resumes
    held.resolve(script(harness.callServer.calls.findLast((call) => call.kind === kind && call.worker === kind)!));
    zombie.process.kill('SIGCONT');
    await until('it drops the run', () => zombie.lines.at(-1) === 'active 0');
    expect(await shapeOf(harness, run.threadId)).toEqual(log);
    expect(await eventsOf(harness, run.threadId)).toEqual(events);
    expect(harness.callServer.calls).toHaveLength(calls);

    const next = await harness.runs.enqueue({ agent: 'fault', input: 'again', threadId: run.threadId });
    expect(await harness.runs.wait(next)).toMatchObject({ status: 'completed' });
    await zombie.kill();
    await expectSound(harness, run.threadId);
  });

  test('during a tool that its successor runs too: only the successor’s result is written', async () => {
    const held = { zombie: deferred<Answer>(), rescuer: deferred<Answer>() };
    harness.callServer.calls.length = 0;
    harness.callServer.respond = ({ kind, worker, turn }) => {
      if (kind === 'tool') return held[worker as keyof typeof held].promise;
      return turn === 0 ? { calls: [{ id: 'c0', name: 'look' }] } : { text: 'Done.' };
    };
    const zombie = await harness.spawnWorker({ name: 'zombie', worker: quick });
    const run = await harness.runs.enqueue({ agent: 'fault', input: 'go' });
    await until(
      'the worker makes the call',
      () => harness.callServer.count('tool') === 1 && zombie.lines.includes('active 1'),
    );
    zombie.process.kill('SIGSTOP');
    const rescuer = await harness.startWorker(quick);
    await until('the successor makes the call', () => harness.callServer.count('tool') === 2);

    const log = await shapeOf(harness, run.threadId);
    held.zombie.resolve({ result: 'by the zombie' });
    zombie.process.kill('SIGCONT');
    await until('it drops the run', () => zombie.lines.at(-1) === 'active 0');
    expect(await shapeOf(harness, run.threadId)).toEqual(log);
    await zombie.kill();
    held.rescuer.resolve({ result: 'by the successor' });
    await harness.runs.wait(run);
    await rescuer.stop();
    expect((await contextOf(harness, run.threadId)).slice(3)).toEqual([
      ['tool', 'by the successor'],
      ['assistant', 'Done.'],
    ]);
    await expectSound(harness, run.threadId);
  });
});

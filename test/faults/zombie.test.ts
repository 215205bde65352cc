import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis } from '../support/lanefold.ts';
import { contextOf, eventsOf, expectSound } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';
import type { Answer, Visit } from './fixtures/outside.ts';
import { quick, startBench, type FaultBench } from './harness.ts';
import { shapeOf } from './normalise.ts';

describe.skipIf(noRedis())('a worker that was frozen past its lease', () => {
  let bench: FaultBench;
  beforeAll(async () => {
    bench = await startBench();
  });
  afterAll(() => bench?.close());

  test.each(['model', 'tool'])('during a %s call writes nothing and starts nothing when it wakes', async (kind) => {
    const held = deferred<Answer>();
    const script = (visit: Visit): Answer => {
      if (visit.kind !== 'model') return { result: `by ${visit.worker}` };
      return visit.turn === 0 ? { calls: [{ id: 'c0', name: 'look' }] } : { text: 'Done.' };
    };
    bench.outside.visits.length = 0;
    bench.outside.respond = (visit) => (visit.worker === kind && visit.kind === kind ? held.promise : script(visit));

    const zombie = await bench.child({ name: kind, worker: quick });
    const run = await bench.runs.enqueue({ agent: 'fault', input: 'go' });
    await until('it works', () => bench.outside.count(kind) === 1 && zombie.lines.includes('active 1'));
    zombie.process.kill('SIGSTOP');
    const rescuer = await bench.startWorker(quick);
    expect(await bench.runs.wait(run, { timeoutMs: 30_000 })).toMatchObject({ status: 'completed', result: 'Done.' });
    await rescuer.stop();

    const log = await shapeOf(bench, run.threadId);
    const events = await eventsOf(bench, run.threadId);
    const visits = bench.outside.visits.length;
    // The answer it was waiting for is there when it wakes.
    held.resolve(script(bench.outside.visits.findLast((visit) => visit.kind === kind && visit.worker === kind)!));
    zombie.process.kill('SIGCONT');
    await until('it has dropped the run', () => zombie.lines.at(-1) === 'active 0');
    expect(await shapeOf(bench, run.threadId)).toEqual(log);
    expect(await eventsOf(bench, run.threadId)).toEqual(events);
    expect(bench.outside.visits).toHaveLength(visits);

    const next = await bench.runs.enqueue({ agent: 'fault', input: 'again', threadId: run.threadId });
    expect(await bench.runs.wait(next, { timeoutMs: 30_000 })).toMatchObject({ status: 'completed' });
    await zombie.kill();
    await expectSound(bench, run.threadId);
  });

  test('in a tool that its successor is at: only the successor’s result is written', async () => {
    const held = { zombie: deferred<Answer>(), rescuer: deferred<Answer>() };
    bench.outside.visits.length = 0;
    bench.outside.respond = ({ kind, worker, turn }) => {
      if (kind === 'tool') return held[worker as keyof typeof held].promise;
      return turn === 0 ? { calls: [{ id: 'c0', name: 'look' }] } : { text: 'Done.' };
    };
    const zombie = await bench.child({ name: 'zombie', worker: quick });
    const run = await bench.runs.enqueue({ agent: 'fault', input: 'go' });
    await until('it works', () => bench.outside.count('tool') === 1 && zombie.lines.includes('active 1'));
    zombie.process.kill('SIGSTOP');
    const rescuer = await bench.startWorker(quick);
    await until('the successor works', () => bench.outside.count('tool') === 2);

    const log = await shapeOf(bench, run.threadId);
    held.zombie.resolve({ result: 'by the zombie' });
    zombie.process.kill('SIGCONT');
    await until('it has dropped the run', () => zombie.lines.at(-1) === 'active 0');
    expect(await shapeOf(bench, run.threadId)).toEqual(log);
    await zombie.kill();
    held.rescuer.resolve({ result: 'by the successor' });
    await bench.runs.wait(run, { timeoutMs: 30_000 });
    await rescuer.stop();
    expect((await contextOf(bench, run.threadId)).slice(3)).toEqual([
      ['tool', 'by the successor'],
      ['assistant', 'Done.'],
    ]);
    await expectSound(bench, run.threadId);
  });
});

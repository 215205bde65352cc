import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noRedis } from '../support/lanefold.ts';
import { contextOf, eventsOf, expectSound } from '../support/log.ts';
import { patient, startBench, type FaultBench } from './harness.ts';

const output = { schema: z.object({ city: z.string() }), maxRepairs: 2 };

describe.skipIf(noRedis())('a worker that is killed in an output repair', () => {
  let bench: FaultBench;
  beforeAll(async () => {
    bench = await startBench();
  });
  afterAll(() => bench?.close());

  test('leaves the answer in the log; the next one makes that repair again, with input still refused', async () => {
    const child = await bench.child();
    const answers = [{ text: 'Oslo' }, { text: 'still Oslo' }, 'die', 'steer', { text: '{"city": "Oslo"}' }] as const;
    let refused: string | null = null;
    let asked = 0;
    bench.outside.respond = async () => {
      const answer = answers[asked++]!;
      if (answer === 'die') {
        await child.kill();
        return new Promise<never>(() => {});
      }
      if (answer !== 'steer') return answer;
      refused = (await bench.runs.steer('repair-1', 'wait')).reason;
      return answers[asked++] as { text: string };
    };
    const request = { agent: 'fault', input: 'Which city?', threadId: 'repair-1', createThread: true, output };
    const run = await bench.runs.enqueue(request);
    await child.died();
    await bench.runOut('repair-1');
    const rescuer = await bench.startWorker(patient);
    expect(await bench.runs.wait(run, { timeoutMs: 30_000 })).toMatchObject({
      status: 'completed',
      terminationReason: 'final_answer',
      result: { city: 'Oslo' },
    });
    await rescuer.stop();
    expect(refused).toBe('closed');
    expect(await contextOf(bench, 'repair-1')).toEqual([
      ['system', 'Be steady.'],
      ['user', 'Which city?'],
      ['assistant', 'Oslo'],
    ]);
    const told = (await eventsOf(bench, 'repair-1')).filter((event) => event.kind.startsWith('output_'));
    expect(told.map((event) => [event.kind, event.data['attempt']])).toEqual([
      ['output_started', 0],
      ['output_repair', 1],
      ['output_repair', 2],
      ['output_validated', 2],
    ]);
    await expectSound(bench, 'repair-1');
  });
});

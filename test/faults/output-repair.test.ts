// @module-tag long
import type { LanefoldError } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { contextOf, eventsOf, expectSound } from '../support/log.ts';
import { patient, startHarness, type FaultHarness } from './harness.ts';

const output = { schema: z.object({ city: z.string() }), maxRepairs: 2 };

describe('a worker killed during an output repair', () => {
  let harness: FaultHarness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness?.close());

  test('leaves the answer in the log; the next worker repeats the repair and still rejects inputs', async () => {
    const child = await harness.spawnWorker();
    const answers = [{ text: 'Oslo' }, { text: 'still Oslo' }, 'die', 'steer', { text: '{"city": "Oslo"}' }] as const;
    let refused: unknown;
    let asked = 0;
    harness.callServer.respond = async () => {
      const answer = answers[asked++]!;
      if (answer === 'die') {
        await child.kill();
        return new Promise<never>(() => {});
      }
      if (answer !== 'steer') return answer;
      refused = await harness.runs.steer('repair-1', 'wait').catch((error: LanefoldError) => error.code);
      return answers[asked++] as { text: string };
    };
    const request = { agent: 'fault', input: 'Which city?', threadId: 'repair-1', createThread: true, output };
    const run = await harness.runs.enqueue(request);
    await child.waitForExit();
    await harness.expireLease('repair-1');
    const rescuer = await harness.startWorker(patient);
    expect(await harness.runs.wait(run)).toMatchObject({
      status: 'completed',
      terminationReason: 'final_answer',
      result: { city: 'Oslo' },
    });
    await rescuer.stop();
    expect(refused).toBe('run_ending');
    expect(await contextOf(harness, 'repair-1')).toEqual([
      ['system', 'Be steady.'],
      ['user', 'Which city?'],
      ['assistant', 'Oslo'],
    ]);
    const outputEvents = (await eventsOf(harness, 'repair-1')).filter((event) => event.kind.startsWith('output_'));
    expect(outputEvents.map((event) => [event.kind, event.data['attempt']])).toEqual([
      ['output_started', 0],
      ['output_repair', 1],
      ['output_repair', 2],
      ['output_validated', 2],
    ]);
    await expectSound(harness, 'repair-1');
  });
});

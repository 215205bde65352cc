// @module-tag long
import type { Run, RunHandle } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { entriesOf, eventsOf, expectSound } from '../support/log.ts';
import { crashAt, pointsOf, sampleOf } from './crash-points.ts';
import { patient, startHarness, type FaultHarness } from './harness.ts';

/** Leases that expire only through `expireLease`. */
const worker = { ...patient, concurrency: 200 };

let harness: FaultHarness;
const runs = new Map<string, RunHandle>();
beforeAll(async () => {
  harness = await startHarness();
  harness.callServer.respond = ({ kind, name, turn }) => {
    if (kind === 'tool') return { result: 'seen' };
    if (name === 'down') return { text: 'half an ans', finishReason: 'error' };
    return turn === 0 ? { calls: [{ id: 'c0', name: 'charge' }] } : { text: 'charged' };
  };
});
afterAll(() => harness?.close());

const enqueue = async (threadId: string) => {
  const model = { try: ['down', 'external'], sticky: false as const };
  const request = { agent: 'fault', input: threadId, threadId, createThread: true, model };
  runs.set(threadId, await harness.runs.enqueue(request));
};
const ended = (threadId: string): Promise<Run> => harness.runs.wait(runs.get(threadId)!);
const calls = (what: 'model' | 'tool', threadId: string) =>
  harness.callServer.calls.filter((call) => call.kind === what && call.threadId === threadId).length;
/** The attempts that failed, with the model that was asked next. */
const passedOn = async (threadId: string) =>
  (await eventsOf(harness, threadId))
    .filter(({ kind }) => kind === 'llm_retry')
    .map(({ data: { model, next_model: next, written } }) => ({ model, next, written }));

test('a worker killed at any write, attempt or tool of a fallback: the next one continues with the same model, and calls no tool again', async () => {
  const undisturbed = await harness.spawnWorker({ name: 'control', worker, crashPoints: {} });
  const control = 'chain-000';
  await enqueue(control);
  expect(await ended(control)).toMatchObject({ status: 'completed', result: 'charged', model: 'down' });
  const written = { text: 'half an ans', thinking: '' };
  const passes = [1, 2].map(() => ({ model: 'down', next: 'external', written }));
  expect(await passedOn(control)).toEqual(passes);
  await undisturbed.kill();

  // every attempt is killed before and after it is made
  const points = pointsOf(undisturbed, control);
  const attempts = points.filter((point) => / model /.test(point));
  expect(attempts).toHaveLength(8);
  const chosen = [...new Set([...attempts, ...sampleOf(points, 1)])];
  const crashPoints = Object.fromEntries(chosen.map((point, i) => [`chain-${String(i + 1).padStart(3, '0')}`, point]));
  await crashAt(harness, crashPoints, { worker, start: enqueue });

  const rescuer = await harness.startWorker(worker);
  for (const [threadId, point] of Object.entries(crashPoints)) {
    expect(await ended(threadId), point).toMatchObject({ status: 'completed', result: 'charged' });
    expect(await passedOn(threadId), point).toEqual(passes);
    expect(calls('model', threadId) - calls('model', control), point).toBeLessThanOrEqual(1);
    expect(calls('tool', threadId), point).toBeLessThanOrEqual(1);
    const answers = (await entriesOf(harness, threadId)).filter(({ role }) => role === 'assistant');
    expect(answers.map(({ refs }) => [refs!['model'], refs!['fallback']])).toEqual([
      ['external', true],
      ['external', true],
    ]);
    await expectSound(harness, threadId);
  }
  await rescuer.stop();
});

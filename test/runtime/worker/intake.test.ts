import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Intake } from '../../../src/worker/process/intake.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** How long an interruption lasts, in ms. */
async function interrupted(intake: Intake): Promise<number> {
  const from = performance.now();
  let ended: number | undefined;
  void intake.interrupt().then(() => (ended = performance.now()));
  while (ended === undefined) await vi.advanceTimersByTimeAsync(10);
  return ended - from;
}

test('a lost connection interrupts a worker briefly, and for longer only if another one is lost soon after', async () => {
  const intake = new Intake(() => Promise.resolve(true));
  expect(await interrupted(intake)).toBe(50);
  for (const longer of [100, 200, 400, 500, 500]) expect(await interrupted(intake)).toBe(longer);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(await interrupted(intake)).toBe(50);
  await vi.advanceTimersByTimeAsync(450);
  expect(await interrupted(intake)).toBe(50);
});

test('a database that does not answer is asked ever more rarely, until it answers', async () => {
  const asked: number[] = [];
  const intake = new Intake(() => Promise.resolve(asked.push(performance.now()) === 6));
  const from = performance.now();
  expect(await interrupted(intake)).toBe(50 + 100 + 200 + 400 + 500 + 500);
  expect(asked.map((at) => at - from)).toEqual([50, 150, 350, 750, 1_250, 1_750]);
  expect(intake.paused).toBe(false);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Repeater } from '../../../src/worker/process/background.ts';
import { useFakeClock, useRealClock } from '../../support/fake-clock.ts';

beforeEach(useFakeClock);
afterEach(useRealClock);

/** The pauses between repetitions of work that takes so long, in ms. */
async function pausesOf(
  tookMs: number | ((nth: number) => number),
  { everyMs = 1_000, fails = undefined as Error | undefined, times = [] as number[] } = {},
) {
  const repeater = new Repeater(() => {});
  const pauses: number[] = [];
  let endedAt = performance.now();
  const work = async () => {
    pauses.push(performance.now() - endedAt);
    const ms = typeof tookMs === 'number' ? tookMs : tookMs(pauses.length);
    await new Promise((resolve) => setTimeout(resolve, ms));
    endedAt = performance.now();
    if (fails) throw fails;
  };
  repeater.repeat(everyMs, work, ...times);
  while (pauses.length < 5) await vi.advanceTimersByTimeAsync(50);
  repeater.stop();
  // the first pause is before any work, and the second after work that may have been slow by chance
  return pauses.slice(2);
}

test('work is repeated at its interval, give or take a quarter', async () => {
  for (const pause of await pausesOf(10)) {
    expect(pause).toBeGreaterThanOrEqual(750);
    expect(pause).toBeLessThanOrEqual(1_250);
  }
});

test('slow work pauses ten times as long as it took, but not for longer than half a minute', async () => {
  for (const pause of await pausesOf(500)) expect(pause).toBe(5_000);
  for (const pause of await pausesOf(8_000)) expect(pause).toBe(30_000);
});

test('work that is slow once is repeated at its interval', async () => {
  for (const pause of await pausesOf((nth) => (nth % 2 === 0 ? 8_000 : 10))) expect(pause).toBeLessThanOrEqual(1_250);
});

test('work may have another share of the time', async () => {
  for (const pause of await pausesOf(500, { times: [4] })) expect(pause).toBe(2_000);
});

test('work that fails because the database is gone is tried again at its interval, however long it took', async () => {
  const fails = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  for (const pause of await pausesOf(20_000, { fails })) expect(pause).toBeLessThanOrEqual(1_250);
});

test('work that fails otherwise, such as at a time limit, pauses like slow work', async () => {
  const fails = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  for (const pause of await pausesOf(8_000, { fails })) expect(pause).toBe(30_000);
});

import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Acting } from './world/acting.ts';
import { Clock } from './world/clock.ts';

/** What a process does at its start, and until when its clock runs. */
async function living(act: (log: string[], clock: Clock) => void, interfere?: (process: Acting, clock: Clock) => void) {
  const clock = new Clock();
  const process: Acting = { life: 0, frozenUntil: 0, random: () => 0.5, uuid: () => '0' };
  const log: string[] = [];
  clock.in(1, process, () => act(log, clock));
  if (interfere) clock.in(50, undefined, () => interfere(process, clock));
  let over = false;
  clock.in(1_000, undefined, () => void (over = true));
  while (!over) await clock.step();
  return log;
}

test('a process sees the time of its clock, and nobody else does', async () => {
  const real = Date.now();
  const log = await living((seen) => {
    const begun = performance.now();
    setTimeout(() => seen.push(`${performance.now() - begun} ms, ${new Date(Date.now()).getUTCFullYear()}`), 100);
    seen.push(`${Math.random()}`);
  });
  expect(log).toEqual(['0.5', '100 ms, 2026']);
  expect(Date.now()).toBeGreaterThanOrEqual(real);
  expect(Math.random()).not.toBe(Math.random());
});

test('timers are cleared, repeat, and end waits', async () => {
  const log = await living((seen) => {
    clearTimeout(setTimeout(() => seen.push('never'), 10));
    let ticks = 0;
    const interval = setInterval(() => {
      seen.push(`tick ${++ticks}`);
      if (ticks === 2) clearInterval(interval);
    }, 20);
    void delay(30, 'waited').then((value) => seen.push(value));
    const controller = new AbortController();
    delay(500, undefined, { signal: controller.signal }).catch(({ name, code }) => seen.push(`${name} ${code}`));
    setTimeout(() => controller.abort(), 70);
    AbortSignal.timeout(90).addEventListener('abort', () => seen.push('timed out'));
  });
  expect(log).toEqual(['tick 1', 'waited', 'tick 2', 'AbortError ABORT_ERR', 'timed out']);
});

test('a crashed process does nothing more, and a frozen one is late', async () => {
  const waiting = (log: string[], clock: Clock) => {
    const begun = clock.now;
    setTimeout(() => log.push(`${clock.now - begun >= 400 ? 'late' : 'in time'}`), 100);
  };
  expect(await living(waiting)).toEqual(['in time']);
  expect(await living(waiting, (process) => void process.life++)).toEqual([]);
  expect(await living(waiting, (process, clock) => void (process.frozenUntil = clock.now + 400))).toEqual(['late']);
});

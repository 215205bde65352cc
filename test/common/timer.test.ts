import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useFakeClock, useRealClock } from '../support/fake-clock.ts';
import { orLate, after, deadline, delay, every } from '../../src/base/common/timer.ts';

beforeEach(useFakeClock);
afterEach(useRealClock);

const longest = 2 ** 31 - 1;
const days = 86_400_000;

test('a timer fires once, after exactly its time, however long that is', async () => {
  const times = fc.oneof(
    fc.integer({ min: 0, max: 400 * days }),
    fc.constantFrom(longest - 1, longest, longest + 1, 2 ** 32, 2 * longest, 30 * days),
  );
  await fc.assert(
    fc.property(times, (ms) => {
      const action = vi.fn();
      after(ms, action);
      if (ms > 0) vi.advanceTimersByTime(ms - 1);
      expect(action).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(action).toHaveBeenCalledOnce();
      vi.advanceTimersByTime(2 * longest);
      expect(action).toHaveBeenCalledOnce();
    }),
  );
});

test.each([-1, -longest - 2, -Infinity])('a timer of %s ms fires at once', (ms) => {
  const action = vi.fn();
  after(ms, action);
  vi.advanceTimersByTime(1);
  expect(action).toHaveBeenCalledOnce();
});

test('a timer of Infinity never fires', () => {
  after(Infinity, expect.fail);
  expect(vi.getTimerCount()).toBe(0);
});

test('a timer of NaN is refused', () => {
  expect(() => after(NaN, expect.fail)).toThrow(RangeError);
  expect(vi.getTimerCount()).toBe(0);
});

test('a cancelled timer does not fire, in whichever part of its wait it is', () => {
  const timer = after(3 * longest, expect.fail);
  vi.advanceTimersByTime(longest + 1);
  timer.cancel();
  expect(vi.getTimerCount()).toBe(0);
});

test('a restarted timer waits for its whole time again', () => {
  const action = vi.fn();
  const timer = after(longest + 10, action);
  vi.advanceTimersByTime(longest + 5);
  timer.restart();
  vi.advanceTimersByTime(longest + 9);
  expect(action).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(action).toHaveBeenCalledOnce();
});

test('an interval of any length repeats until it is cancelled', () => {
  const action = vi.fn();
  const timer = every(longest + 10, action);
  vi.advanceTimersByTime(3 * (longest + 10));
  expect(action).toHaveBeenCalledTimes(3);
  timer.cancel();
  expect(vi.getTimerCount()).toBe(0);
});

test('a deadline aborts its signal with a TimeoutError after any time', () => {
  const { signal } = deadline(longest + 1);
  vi.advanceTimersByTime(longest);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('a delay of any time resolves after it, or rejects with the reason of its signal', async () => {
  const over = vi.fn();
  void delay(longest + 1).then(over);
  await vi.advanceTimersByTimeAsync(longest);
  expect(over).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(over).toHaveBeenCalledOnce();

  const stop = new AbortController();
  const reason = new Error('stopped');
  const stopped = delay(longest + 1, { signal: stop.signal });
  stop.abort(reason);
  await expect(stopped).rejects.toBe(reason);
  await expect(delay(1, { signal: stop.signal })).rejects.toBe(reason);
  expect(vi.getTimerCount()).toBe(0);
});

test('work that settles keeps no timer', async () => {
  await expect(orLate(longest + 1, Promise.resolve(1), () => 2)).resolves.toBe(1);
  await expect(orLate(longest + 1, Promise.reject(new Error('own')), () => 2)).rejects.toThrow('own');
  expect(vi.getTimerCount()).toBe(0);
});

test('work is late after any time', async () => {
  const late = vi.fn();
  void orLate(longest + 1, new Promise(() => {}), late);
  await vi.advanceTimersByTimeAsync(longest);
  expect(late).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(late).toHaveBeenCalledOnce();
});

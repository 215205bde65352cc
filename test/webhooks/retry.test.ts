import { expect, test } from 'vitest';
import { retryMs } from '../../src/features/webhooks/worker/send.ts';

test('eleven attempts are made in about a day', () => {
  const pauses = Array.from({ length: 10 }, (_, i) => retryMs(i + 1, 0.5)!);
  expect(pauses[0]).toBe(5_000);
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  const hours = pauses.reduce((sum, ms) => sum + ms, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(20);
  expect(hours).toBeLessThan(28);
  expect(retryMs(11, 0.5)).toBeUndefined();
});

test('attempts that failed together spread by a fifth', () => {
  expect([retryMs(1, 0), retryMs(1, 1)]).toEqual([4_000, 6_000]);
});

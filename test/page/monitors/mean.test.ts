import fc from 'fast-check';
import { expect, test } from 'vitest';
import { meanOf } from '../../../page/views/monitors/mean.ts';

test('the mean of scores has an interval from six scores on that differ', () => {
  expect(meanOf([])).toBeUndefined();
  expect(meanOf([1, 0, 1, 1, 1])).toEqual({ mean: 0.8, runs: 5 });
  expect(meanOf([1, 1, 1, 1, 1, 1])).toEqual({ mean: 1, runs: 6 });
  const { mean, interval } = meanOf([1, 0, 1, 0, 1, 0, 1, 0])!;
  expect(mean).toBe(0.5);
  // 1.96 times the standard deviation, √(2/7), by √8
  expect(interval![0]).toBeCloseTo(0.13, 2);
  expect(interval![1]).toBeCloseTo(0.87, 2);
});

test('the interval holds the mean, and lies between 0 and 1', () => {
  const score = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.array(score, { minLength: 6, maxLength: 50 }), (scores) => {
      const { mean, interval = [mean, mean] } = meanOf(scores)!;
      const [low, high] = interval;
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1 + 1e-9);
      expect(low).toBeLessThanOrEqual(mean);
      expect(high).toBeGreaterThanOrEqual(Math.min(mean, 1));
    }),
  );
});

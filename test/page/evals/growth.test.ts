import { expect, test } from 'vitest';
import { growthOf, type Report, type VariantResult } from '../../../page/views/evals/report.ts';

const base: VariantResult = {
  variant: 'base',
  items: 10,
  scored: 10,
  passed: 10,
  score: 1,
  scorers: [],
  failures: 0,
  erased: 0,
  unscored: 0,
  pending: 0,
  reused: 0,
  unpriced: 0,
  cost_micros: 1_000,
  p50_ms: 1_000,
  p95_ms: 4_000,
};

const growth = (changes: Partial<VariantResult>, of: Partial<VariantResult> = {}) => {
  const variants = [
    { ...base, ...of },
    { ...base, variant: 'dear', ...changes },
  ];
  const report: Report = { baseline: 'base', variants, comparisons: [] };
  return growthOf(report, variants[1]!);
};

test('a variant that costs or takes a quarter more is marked, and one that fails more often', () => {
  expect(growth({})).toEqual({ fails: false });
  expect(growth({ cost_micros: 3_000, p50_ms: 1_500, p95_ms: 4_900, failures: 1 })).toEqual({
    cost: 3,
    p50: 1.5,
    fails: true,
  });
  expect(growth({ cost_micros: 1_249 })).toEqual({ fails: false });
  expect(growth({ cost_micros: 500, p50_ms: 100 })).toEqual({ fails: false });
});

test('durations that differ by less than half a second are not', () => {
  expect(growth({ p50_ms: 499 }, { p50_ms: 10 })).toEqual({ fails: false });
  expect(growth({ p50_ms: 510 }, { p50_ms: 10 })).toEqual({ p50: 51, fails: false });
});

test('costs are not compared where answers were reused, prices are unknown, or items are missing', () => {
  const cost_micros = 3_000;
  expect(growth({ cost_micros })).toEqual({ cost: 3, fails: false });
  for (const one of [{ reused: 1 }, { unpriced: 1 }]) {
    expect(growth({ cost_micros, ...one })).toEqual({ fails: false });
    expect(growth({ cost_micros }, one)).toEqual({ fails: false });
  }
  expect(growth({ cost_micros, items: 9 })).toEqual({ fails: false });
  expect(growth({ cost_micros: null })).toEqual({ fails: false });
  expect(growth({ cost_micros }, { cost_micros: 0 })).toEqual({ fails: false });
});

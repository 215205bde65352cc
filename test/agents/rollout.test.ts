// @module-tag slow
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RolloutDefinition } from '../../src/agent/definition/types.ts';
import { readRollout, chooseVersion } from '../../src/agent/definition/version.ts';
import { checkBody } from '../../src/base/operations/checked.ts';
import { agents } from '../../src/runs/operations/agents/declaration.ts';

const labels = ['a', 'b', 'c', 'd'];
const arbitraryShares = fc.record(
  Object.fromEntries(labels.map((label) => [label, fc.double({ min: 0, max: 100, noNaN: true })])),
);
const keys = Array.from({ length: 200 }, (_, i) => `thread-${i}`);

test('a growing share draws keys to this version only, and a shrinking one gives only its own away', () => {
  fc.assert(
    fc.property(
      arbitraryShares,
      fc.constantFrom(...labels),
      fc.double({ min: 0, max: 100, noNaN: true }),
      (before, label, share) => {
        const after = { ...before, [label]: share };
        for (const key of keys) {
          const [from, to] = [before, after].map((shares) => chooseVersion('support', { shares }, key));
          if (from === to) continue;
          if (share > before[label]!) expect(to).toBe(label);
          else expect(from).toBe(label);
        }
      },
    ),
  );
});

test('a version without a share gets nothing, and the scale of shares does not matter', () => {
  fc.assert(
    fc.property(arbitraryShares, fc.constantFrom(...keys), fc.integer({ min: 1, max: 8 }), (shares, key, power) => {
      const chosen = chooseVersion('support', { shares }, key);
      if (chosen === undefined) expect(Object.values(shares).every((share) => share === 0)).toBe(true);
      else expect(shares[chosen]).toBeGreaterThan(0);
      // powers of two lose no digits
      const scaled = Object.fromEntries(Object.entries(shares).map(([label, share]) => [label, share * 2 ** power]));
      expect(chooseVersion('support', { shares: scaled }, key)).toBe(chosen);
    }),
  );
});

test('shares are met: of 20,000 keys, within four standard deviations', () => {
  const count = { a: 0, b: 0, c: 0 };
  const shares = { a: 70, b: 25, c: 5 };
  const n = 20_000;
  for (let i = 0; i < n; i++) count[chooseVersion('support', { shares }, `key-${i}`) as keyof typeof count]++;
  for (const label of ['a', 'b', 'c'] as const) {
    const p = shares[label] / 100;
    expect(Math.abs(count[label] - n * p)).toBeLessThan(4 * Math.sqrt(n * p * (1 - p)));
  }
});

test.each([
  [{}, 'shares'],
  [{ shares: {} }, 'shares'],
  [{ shares: { a: 0 } }, 'shares'],
  [{ shares: { a: -1 } }, 'shares.a'],
  [{ shares: { a: Number.NaN } }, 'shares.a'],
  [{ shares: { a: '1' } }, 'shares.a'],
  [{ shares: { 'a b': 1 } }, 'shares'],
  [{ shares: { v_0123456789abcdef01234567: 1 } }, 'shares'],
  [{ shares: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`v${i}`, 1])) }, 'shares'],
  [{ shares: [1] }, 'shares'],
  [{ shares: { a: 1 }, key: 'Not a key' }, 'key'],
])('%j is refused, naming %s', (given, field) => {
  // as the library does
  const read = (rollout: RolloutDefinition) => {
    checkBody('agents.setRollout', agents.operations.setRollout, rollout);
    return readRollout(rollout);
  };
  expect(() => read(given as never)).toThrow(
    expect.objectContaining({ code: 'invalid_input', details: expect.objectContaining({ field }) as unknown }),
  );
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calculate } from '../../src/ops/cli/assistant.ts';

interface Sum {
  text: string;
  value: number;
}
const number = fc.integer({ min: 0, max: 99 }).map((n): Sum => ({ text: String(n), value: n }));
const { sum } = fc.letrec<{ sum: Sum }>((tie) => ({
  sum: fc.oneof(
    { maxDepth: 4 },
    number,
    fc.tuple(tie('sum'), fc.constantFrom('+', '-', '*'), tie('sum')).map(([a, sign, b]): Sum => {
      const value = sign === '+' ? a.value + b.value : sign === '-' ? a.value - b.value : a.value * b.value;
      return { text: `(${a.text} ${sign}${b.text})`, value };
    }),
    tie('sum').map((a): Sum => ({ text: `-${a.text}`, value: -a.value })),
  ),
}));

describe('the calculator', () => {
  test('evaluates parentheses first', () => {
    fc.assert(fc.property(sum, ({ text, value }) => text.length > 1_000 || calculate(text) + 0 === value + 0));
  });

  test.each([
    ['2 + 3 * 4 - 1', 13],
    ['100 / 10 / 5', 2],
    ['7 % 4 * 2', 6],
    ['2 ^ 3 ^ 2', 512],
    ['-2 ^ 2', -4],
    ['2 ^ -1', 0.5],
    ['.5 + 1.25e2', 125.5],
  ])('%s = %d', (expression, value) => expect(calculate(expression)).toBe(value));

  test.each(['', '2 +', '(1', '1)', '2 2', 'process.exit()', '1 / 0', '2 ** 3', '1e999', '1.2.3'])(
    'rejects %j',
    (expression) => {
      expect(() => calculate(expression)).toThrow(
        expect.objectContaining({ type: 'invalid_expression', retryable: false }),
      );
    },
  );

  test('rejects a long expression instead of overflowing the stack', () => {
    expect(() => calculate('('.repeat(100_000))).toThrow(/longer than/);
  });
});

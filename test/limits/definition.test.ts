import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { billionthsOf, dollarsOf } from '../../src/agent/limits/limit.ts';
import { readDefinition, showDefinition } from '../../src/agent/limits/read-definition.ts';
import type { LimitDefinition } from '../../src/agent/limits/types.ts';
import { checkBody } from '../../src/base/operations/checked.ts';
import { limits } from '../../src/runs/operations/limits/declaration.ts';

const runs = { kind: 'runs', amount: 1, per: 'minute' } as const;
const money = { kind: 'money', amount: 1, calendar: 'day' } as const;
const each = { ...runs, scope: { customer: '*' } } as const;

function read(given: unknown, owner = '*') {
  checkBody('limits.set', limits.operations.set, given);
  return readDefinition(given as LimitDefinition, owner);
}

/** The field that the library names when it refuses. */
function fieldOf(given: unknown, owner = '*'): unknown {
  try {
    read(given, owner);
    return 'none';
  } catch (error) {
    const { code, details, message, hint } = error as Record<string, string> & { details: Record<string, string> };
    expect([code, message!.includes(details['field']!), hint]).toEqual(['invalid_input', true, expect.any(String)]);
    return details['field'];
  }
}

describe('a limit that makes no sense is refused with the field', () => {
  test.each<[string, unknown]>([
    ['kind', { ...runs, kind: 'cats' }],
    ['kind', { amount: 1, per: 'minute' }],
    ...[-1, 1.5, NaN, Infinity, 1e16, '7', null, undefined].map((amount): [string, unknown] => [
      'amount',
      { ...runs, amount },
    ]),
    ...[-0.5, 1e-10, 0.123_456_789_1, 2e9, NaN].map((amount): [string, unknown] => ['amount', { ...money, amount }]),
    ['per', { kind: 'runs', amount: 1 }],
    ...['fortnight', 999, 1_000.5, 31 * 86_400_000 + 1, -60_000, '60000', {}].map((per): [string, unknown] => [
      'per',
      { ...runs, per },
    ]),
    ['per', { kind: 'concurrency', amount: 1, per: 'minute' }],
    ['calendar', { kind: 'concurrency', amount: 1, calendar: 'day' }],
    ['calendar', { ...runs, calendar: 'day' }],
    ['calendar', { ...money, calendar: 'year' }],
    ['timeZone', { ...runs, timeZone: 'UTC' }],
    ...['Mars/Base', '+02:00', '', 7].map((timeZone): [string, unknown] => ['timeZone', { ...money, timeZone }]),
    ['tokens', { ...runs, tokens: 'input' }],
    ['tokens', { ...runs, kind: 'tokens', tokens: 'both' }],
    ['scope', { ...runs, scope: ['customer'] }],
    ...['Customer', 'a-b', '1a', '', 'x'.repeat(33)].map((name): [string, unknown] => [
      'scope',
      { ...runs, scope: { [name]: '*' } },
    ]),
    ['scope', { ...runs, scope: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`d${n}`, '*'])) }],
    ['scope.customer', { ...runs, scope: { customer: 7 } }],
    ...['', ' ', 'a/b', 'x'.repeat(201), 'a\u0000'].map((customer): [string, unknown] => [
      'scope.customer',
      { ...runs, scope: { customer } },
    ]),
    ['scope.tenant', { ...runs, scope: { tenant: 'a b' } }],
    ['scope.thread', { ...runs, scope: { thread: '-x' } }],
    ['amounts', { ...runs, amounts: { acme: 1 } }],
    ['amounts', { ...runs, scope: { customer: 'acme' }, amounts: { acme: 1 } }],
    ['amounts.acme', { ...each, amounts: { acme: -1 } }],
    ['amounts.a/b', { ...each, amounts: { 'a/b': 1 } }],
    ['amounts.acme', { ...runs, scope: { agent: '*', customer: '*' }, amounts: { acme: 1 } }],
    ['amounts.a/', { ...runs, scope: { agent: '*', customer: '*' }, amounts: { 'a/': 1 } }],
    ['amounts', { ...each, amounts: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`c${n}`, 1])) }],
    ['shareBy', { ...runs, shareBy: 'Customer' }],
    ['shareBy', { ...runs, shareBy: '*' }],
    ['shares', { ...runs, shares: { acme: 3 } }],
    ...[0, -1, 0.0001, 1_001, '2'].map((acme): [string, unknown] => [
      'shares.acme',
      { ...runs, shareBy: 'customer', shares: { acme } },
    ]),
    ['reserve', { ...runs, reserve: { acme: 1 } }],
    ['reserve', { ...runs, amount: 5, shareBy: 'customer', reserve: { acme: 3, bolt: 3 } }],
    ['reserve.acme', { ...runs, shareBy: 'customer', reserve: { acme: -1 } }],
    ['reserve.a/b', { ...runs, shareBy: 'customer', reserve: { 'a/b': 1 } }],
    ['shares.a/b', { ...runs, shareBy: 'customer', shares: { 'a/b': 1 } }],
    ['onExhausted', { ...runs, onExhausted: 'cry' }],
    ['onExhausted', { ...runs, onExhausted: 'notice' }],
    ['onExhausted', { kind: 'concurrency', amount: 1, onExhausted: 'notice' }],
    ['definition', 7],
    ['definition', null],
  ])('%s of %j', (field, given) => {
    expect(fieldOf(given)).toBe(field);
  });

  test('a field that is none, with the one that was meant', () => {
    expect(() => read({ ...runs, timezone: 'UTC' })).toThrow(
      expect.objectContaining({ code: 'invalid_input', hint: 'Did you mean "timeZone"?' }),
    );
  });

  test('a limit of a tenant for another one, or for each', () => {
    for (const tenant of ['bolt', '*']) expect(fieldOf({ ...runs, scope: { tenant } }, 'acme')).toBe('scope.tenant');
    expect(fieldOf({ ...runs, scope: { tenant: 'acme' } }, 'acme')).toBe('none');
    expect(fieldOf({ ...runs, scope: { tenant: '*' } })).toBe('none');
  });
});

test('names of models may contain a slash, in a scope and in the key of an amount', () => {
  expect(fieldOf({ ...runs, scope: { model: 'openrouter:meta/llama' } })).toBe('none');
  expect(fieldOf({ ...runs, scope: { model: '*' }, amounts: { 'openrouter:meta/llama': 1 } })).toBe('none');
  const two = { ...runs, scope: { customer: '*', model: '*' } };
  expect(fieldOf({ ...two, amounts: { 'acme/openrouter:meta/llama': 1 } })).toBe('none');
});

test('what was read is shown as it was given, but for the defaults', () => {
  const given: LimitDefinition = { ...money, scope: { tenant: '*' }, amounts: { acme: 0.1 }, timeZone: 'UTC' };
  expect(showDefinition(readDefinition(given, '*'))).toEqual(given);
  const plain: LimitDefinition = {
    ...runs,
    per: 60_000,
    amounts: {},
    shares: {},
    shareBy: 'agent',
    onExhausted: 'wait',
  };
  expect(showDefinition(readDefinition(plain, '*'))).toEqual({ ...runs, scope: {}, shareBy: 'agent' });
});

test('dollars with up to 9 decimal places are exact', () => {
  expect([0, 1, 0.1, 1e-9, 123.456, 1e9].map(billionthsOf)).toEqual([
    0n,
    1_000_000_000n,
    100_000_000n,
    1n,
    123_456_000_000n,
    1_000_000_000_000_000_000n,
  ]);
  expect(['0', '1', '-1500000000', '100000000'].map(dollarsOf)).toEqual([0, 1e-9, -1.5, 0.1]);
  // a number has 15 exact digits
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (billionths) => {
      expect(billionthsOf(dollarsOf(String(billionths)))).toBe(billionths);
    }),
  );
});

import { describe, expect, test } from 'vitest';
import { formatTraceparent, parentOf, parseTraceparent } from '../../src/runs/telemetry/telemetry.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const given = `00-${trace}-b7ad6b7169203331-01`;

describe('a traceparent', () => {
  test('is read and written', () => {
    expect(parseTraceparent(given)).toEqual({ traceId: trace, spanId: 'b7ad6b7169203331', traceFlags: 1 });
    expect(formatTraceparent(parseTraceparent(given)!)).toBe(given);
  });

  test('of a later version may have more parts, which are dropped', () => {
    expect(parentOf(`cc-${trace}-b7ad6b7169203331-01-what-comes`, undefined)).toBe(given);
  });

  test.each([
    undefined,
    null,
    '',
    'x',
    `${given}-more`,
    given.toUpperCase(),
    `ff-${trace}-b7ad6b7169203331-01`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    ` ${given}`,
    `${given}\n`,
  ])('is not %j', (text) => expect(parseTraceparent(text)).toBeUndefined());
});

describe('the parent of a run', () => {
  const below = `00-${trace}-00f067aa0ba902b7-01`;
  const foreign = `00-${'a'.repeat(32)}-00f067aa0ba902b7-01`;

  test.each([
    ['the given one', given, undefined, given],
    ['the active one', undefined, below, below],
    ['the active one below the given one', given, below, below],
    ['the given one, where another trace is active', given, foreign, given],
    ['the active one, where the given one is malformed', 'x', below, below],
    ['nothing', undefined, undefined, undefined],
  ])('is %s', (_, header, active, parent) => expect(parentOf(header, active)).toBe(parent));
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxRetryAfterMs, retryAfterMs } from '../../src/base/common/network.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const wait = (headers: Record<string, string>) => retryAfterMs((name) => headers[name], now);

test.each([
  ['2', 2_000],
  ['0', 0],
  ['0.5', 500],
  [' 7 ', 7_000],
  ['1, 1', 1_000],
  ['1, 30, 2', 30_000],
  ['Thu, 01 Jan 2026 12:00:07 GMT', 7_000],
  ['Thursday, 01-Jan-26 12:00:07 GMT', 7_000],
  ['Thu Jan  1 12:00:07 2026', 7_000],
  ['2026-01-01T13:00:07+01:00', 7_000],
  ['Thu, 01 Jan 2026 12:00:07 GMT, Thu, 01 Jan 2026 12:00:09 GMT', 9_000],
  ['Thu, 01 Jan 2026 11:59:00 GMT', 0],
  ['Thu, 01 Jan 2099 12:00:00 GMT', maxRetryAfterMs],
  ['99999999999999999999', maxRetryAfterMs],
  ['-100', undefined],
  ['+5', undefined],
  ['1, -1', undefined],
  ['1e3', undefined],
  ['1.2.3', undefined],
  ['NaN', undefined],
  ['Infinity', undefined],
  ['soon', undefined],
  ['12', 12_000],
  ['2026', 2_026_000],
  ['', undefined],
])('Retry-After: %s', (value, expected) => {
  expect(wait({ 'retry-after': value })).toBe(expected);
});

test.each([
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1_500],
  [{ 'retry-after-ms': '-5', 'retry-after': '9' }, 9_000],
  [{ 'retry-after-ms': '12abc' }, undefined],
  [{ 'retry-after-ms': '99999999999' }, maxRetryAfterMs],
  [{}, undefined],
])('%j', (headers, expected) => {
  expect(wait(headers as Record<string, string>)).toBe(expected);
});

test.each([-300_000, 300_000, -86_400_000])(
  'a server whose clock is %s ms off is waited for as long as it asks',
  (off) => {
    const at = (ms: number) => new Date(now + off + ms).toUTCString();
    expect(wait({ date: at(0), 'retry-after': at(20_000) })).toBe(20_000);
  },
);

test('without a readable `date`, our clock counts', () => {
  expect(wait({ date: 'today', 'retry-after': new Date(now + 20_000).toUTCString() })).toBe(20_000);
});

test('whatever a server sends, the wait is a whole number up to an hour, or unknown', () => {
  const value = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    fc.array(fc.double().map(String)).map((all) => all.join(', ')),
  );
  fc.assert(
    fc.property(
      fc.record({ 'retry-after': value, 'retry-after-ms': value, date: value }, { requiredKeys: [] }),
      (headers) => {
        const ms = wait(headers as Record<string, string>);
        expect(ms === undefined || (Number.isInteger(ms) && ms >= 0 && ms <= maxRetryAfterMs)).toBe(true);
      },
    ),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkHistory } from '../../src/ops/history/check-history.ts';
import type { HistoryEvent } from '../../src/ops/history/event.ts';
import { cases } from '../support/cases.ts';
import { ending, historyOf, interval, type Timed } from './concurrent.ts';

const worker = fc.integer({ min: 1, max: 3 });
const claim = fc.record({ interval, ending, worker });
const write = fc.record({ interval, ending, lease: fc.integer({ min: 1, max: 6 }) });

/** Claims and writes of one run; a write names a lease, which may long have passed to another worker. */
const operations = fc
  .tuple(fc.array(claim, { minLength: 1, maxLength: 6 }), fc.array(write, { maxLength: 12 }))
  .map(([claims, writes]): Timed[] => [
    ...claims.map((one): Timed => ({
      f: 'claim',
      ...one.interval,
      ending: one.ending,
      // a lease that is over at once, because the model gives the run to everyone
      call: { run_id: 'r', worker_id: `w${one.worker}`, lease_ms: 0 },
    })),
    ...writes.map((one): Timed => ({
      f: 'record',
      ...one.interval,
      ending: one.ending,
      call: { run_id: 'r', lease: one.lease, lease_ms: 0, round: 1, index: 0, status: 'started', outcome: null },
    })),
  ]);

/** The sequential model: the current lease; `fenced: false` compares none. */
function play(timed: readonly Timed[], { fenced = true, raises = 1 } = {}): HistoryEvent[] {
  let lease = 0;
  return historyOf(timed, ({ f, call }) => {
    if (f === 'record') return !fenced || (call as { lease: number }).lease === lease ? {} : undefined;
    lease = Math.max(lease + raises, 1);
    return {
      claimed: true,
      lease,
      context_ref: 'default',
      user_seq: 0,
      context_hash: '',
      round: null,
      calls: [],
    };
  });
}

test('no legal history of claims and writes is refused', () => {
  fc.assert(
    fc.property(operations, (timed) => {
      expect(checkHistory(play(timed))).toEqual([]);
    }),
    { numRuns: cases(200) },
  );
});

test('a write under a lease that was known to have passed on is found', () => {
  let applied = 0;
  fc.assert(
    fc.property(operations, (timed) => {
      const events = play(timed, { fenced: false });
      const granted = events.flatMap(({ f, type, value, index }) =>
        f === 'claim' && type === 'ok' ? [{ lease: (value as { lease: number }).lease, index }] : [],
      );
      const late = events.some(
        ({ f, type, value, index, process }) =>
          f === 'record' &&
          type === 'invoke' &&
          events.some((end) => end.process === process && end.type === 'ok') &&
          granted.some((higher) => higher.index < index && higher.lease > (value as { lease: number }).lease),
      );
      applied += Number(late);
      expect(checkHistory(events).some(({ check }) => check === 'monotonic-fences')).toBe(late);
    }),
    { numRuns: cases(200) },
  );
  expect(applied).toBeGreaterThan(10);
});

test('two claims with the same lease are found', () => {
  fc.assert(
    fc.property(operations, (timed) => {
      const events = play(timed, { raises: 0 });
      const granted = events.filter(({ f, type }) => f === 'claim' && type === 'ok');
      expect(checkHistory(events).some(({ check }) => check === 'monotonic-fences')).toBe(granted.length > 1);
    }),
    { numRuns: cases(200) },
  );
});

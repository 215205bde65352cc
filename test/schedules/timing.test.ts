import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dueAfter, nextSlot, nextSlots, slotsUntil } from '../../src/features/schedules/definition/timing.ts';

const at = (text: string) => new Date(text);
const iso = (slots: readonly Date[]) => slots.map((slot) => slot.toISOString());

describe('the slots of a cron expression', () => {
  test.each([
    ['0 6 * * *', 'UTC', '2026-11-25T06:00:00Z', ['2026-11-26T06:00:00.000Z']],
    ['0 6 * * *', 'Europe/Berlin', '2026-11-25T05:00:00Z', ['2026-11-26T05:00:00.000Z']],
    ['*/15 * * * * *', 'UTC', '2026-11-25T00:00:01Z', ['2026-11-25T00:00:15.000Z', '2026-11-25T00:00:30.000Z']],
    ['@daily', 'UTC', '2026-11-25T00:00:00Z', ['2026-11-26T00:00:00.000Z']],
    // a leap day
    ['0 0 29 2 *', 'UTC', '2026-11-25T00:00:00Z', ['2028-02-29T00:00:00.000Z', '2032-02-29T00:00:00.000Z']],
    ['0 0 L * *', 'UTC', '2026-11-25T00:00:00Z', ['2026-11-30T00:00:00.000Z', '2026-12-31T00:00:00.000Z']],
  ])('%s in %s after %s', (cron, timeZone, after, slots) => {
    expect(iso(nextSlots({ cron, timeZone }, at(after), slots.length))).toEqual(slots);
  });

  test('a time that the clock skips comes right after, and one that comes twice counts once', () => {
    const timing = { cron: '30 2 * * *', timeZone: 'Europe/Berlin' };
    expect(iso(nextSlots(timing, at('2026-03-28T12:00:00Z'), 2))).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
    expect(iso(nextSlots(timing, at('2026-10-24T12:00:00Z'), 2))).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  test('so do the times of a list or a range', () => {
    const timing = { cron: '30 2,14 * * *', timeZone: 'Europe/Berlin' };
    const [march, october] = ['2026-03-28T22:00:00Z', '2026-10-24T22:00:00Z'].map((night) =>
      iso(nextSlots(timing, at(night), 2)),
    );
    expect(march).toEqual(['2026-03-29T01:00:00.000Z', '2026-03-29T12:30:00.000Z']);
    expect(october).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-25T13:30:00.000Z']);
  });

  test('each hour follows the clock through both changes', () => {
    const timing = { cron: '0 * * * *', timeZone: 'Europe/Berlin' };
    for (const night of ['2026-03-28T22:30:00Z', '2026-10-24T22:30:00Z']) {
      const slots = nextSlots(timing, at(night), 5);
      expect(slots.map((slot, i) => slot.getTime() - slots[0]!.getTime() - i * 3_600_000)).toEqual([0, 0, 0, 0, 0]);
    }
  });

  test('keep to start and end', () => {
    const timing = { cron: '0 6 * * *', startAt: at('2026-12-01T06:00:00Z'), endAt: at('2026-12-03T06:00:00Z') };
    expect(iso(nextSlots(timing, at('2026-11-25T00:00:00Z'), 9))).toEqual([
      '2026-12-01T06:00:00.000Z',
      '2026-12-02T06:00:00.000Z',
    ]);
    expect(nextSlot(timing, at('2026-12-02T06:00:00Z'))).toBeUndefined();
  });
});

const timings = fc.oneof(
  fc.record({ everyMs: fc.integer({ min: 1_000, max: 90_000_000 }) }),
  fc.record({
    cron: fc.constantFrom(
      '* * * * * *',
      '0,1 * * * * *',
      '*/7 * * * *',
      '0 6 * * *',
      '30 2 * * *',
      '0 0 1 * *',
      '*/20 * * * * *',
      '15 1-3 * * SUN',
    ),
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia'),
  }),
);
const moments = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) }).map((ms) => new Date(ms));

test('slots come in order, and those up to a moment are the ones that would have been the next', () => {
  fc.assert(
    fc.property(timings, moments, fc.integer({ min: 1, max: 50 }), (timing, from, count) => {
      const slots = nextSlots(timing, from, count);
      expect(slots).toHaveLength(count);
      for (const [i, slot] of slots.entries()) expect(slot > (slots[i - 1] ?? from)).toBe(true);
      expect(iso(slotsUntil(timing, slots[0]!, slots.at(-1)!, 1_000))).toEqual(iso(slots));
      expect(iso(slotsUntil(timing, slots[0]!, slots.at(-1)!, 3))).toEqual(iso(slots.slice(-3)));
      expect(slotsUntil(timing, slots[0]!, from, 1_000)).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

test('a slot is delayed by the same jitter in every process, and never by more', () => {
  const slots = nextSlots({ everyMs: 60_000 }, at('2026-11-25T00:00:00Z'), 100);
  const delays = slots.map((slot) => dueAfter(slot, 30_000, 'default nightly').getTime() - slot.getTime());
  expect(delays).toEqual(slots.map((slot) => dueAfter(slot, 30_000, 'default nightly').getTime() - slot.getTime()));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...delays)).toBeLessThan(30_000);
  expect(new Set(delays).size).toBeGreaterThan(50);
  expect(dueAfter(slots[0]!, 0, 'default nightly')).toEqual(slots[0]);
});

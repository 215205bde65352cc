import { describe, expect, test } from 'vitest';
import { dueAt } from '../../src/features/schedules/definition/timing.ts';
import type { CatchUp } from '../../src/features/schedules/types.ts';

const minute = (n: number) => new Date(Date.UTC(2026, 10, 25, 0, n));
const onTime = (n: number) => ({ slot: minute(n), late: false });
const caughtUp = (n: number) => ({ slot: minute(n), late: true });
const schedule = (catchUp?: CatchUp) => ({ agent: 'a', input: 'x', everyMs: 60_000, ...(catchUp ? { catchUp } : {}) });

describe('when its next slot has come', () => {
  test.each(['none', 'one', 'all'] as const)('a slot on time runs (%s)', (catchUp) => {
    expect(dueAt(schedule(catchUp), minute(5), minute(5), 10_000)).toEqual({ slots: [onTime(5)], next: minute(6) });
  });

  test('nothing is due before it', () => {
    expect(dueAt(schedule(), minute(5), minute(4), 10_000)).toEqual({ slots: [], next: minute(5) });
  });

  const late = new Date(minute(9).getTime() + 30_000);
  test.each([
    ['none', { slots: [], missed: minute(9) }],
    ['one', { slots: [caughtUp(9)], missed: minute(8) }],
    [undefined, { slots: [caughtUp(9)], missed: minute(8) }],
    ['all', { slots: [5, 6, 7, 8, 9].map(caughtUp) }],
  ] as const)('of slots that nobody saw, %s run', (catchUp, expected) => {
    expect(dueAt(schedule(catchUp), minute(5), late, 10_000)).toEqual({ ...expected, next: minute(10) });
  });

  test('one that is on time runs although those before it were missed', () => {
    expect(dueAt(schedule('none'), minute(5), minute(9), 10_000)).toEqual({
      slots: [onTime(9)],
      missed: minute(8),
      next: minute(10),
    });
  });

  test('at most a thousand are caught up, and it ends with its last slot', () => {
    const year = { ...schedule('all'), everyMs: 1_000, endAt: minute(500) };
    const due = dueAt(year, minute(0), minute(600), 10_000);
    expect(due.slots).toHaveLength(1_000);
    expect(due.missed).toEqual(new Date(due.slots[0]!.slot.getTime() - 1_000));
    expect(due.slots.at(-1)).toEqual({ slot: new Date(minute(500).getTime() - 1_000), late: true });
    expect(due.next).toBeUndefined();
  });

  test('those that are on time are caught up besides the thousand', () => {
    const due = dueAt({ ...schedule('all'), everyMs: 1_000 }, minute(0), minute(60), 10_000);
    expect(due.slots).toHaveLength(1_011);
    expect(due.slots.every(({ late }) => late)).toBe(true);
    expect(due.missed).toEqual(new Date(due.slots[0]!.slot.getTime() - 1_000));
  });

  test('of a backlog whose newest slots are on time, one is the newest', () => {
    expect(dueAt(schedule('one'), minute(5), minute(9), 60_000)).toEqual({
      slots: [caughtUp(9)],
      missed: minute(8),
      next: minute(10),
    });
  });
});

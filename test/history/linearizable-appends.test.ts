// @module-tag slow
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkHistory } from '../../src/ops/history/check-history.ts';
import { operationsOf, type HistoryEvent, type Answered, type Snapshot } from '../../src/ops/history/event.ts';
import { answered, before } from '../../src/ops/history/check.ts';
import { cases } from '../support/cases.ts';
import { ending, historyOf, interval, note, type Timed } from './concurrent.ts';

const append = (maxAttempts: number) =>
  fc.record({
    count: fc.integer({ min: 1, max: 3 }),
    attempts: fc.array(fc.record({ interval, ending }), { minLength: 1, maxLength: maxAttempts }),
    expects: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(10) }),
  });

/** Appends, some of them sent several times under their keys, and reads; the last read comes after everything. */
const operationsWith = (maxAttempts: number) =>
  fc
    .tuple(fc.array(append(maxAttempts), { minLength: 2, maxLength: 12 }), fc.array(interval, { maxLength: 8 }))
    .map(([appends, reads]): Timed[] => [
      ...appends.flatMap(({ count, attempts, expects }, n) => {
        const values = Array.from({ length: count }, (_, i) => `${n}.${i}`);
        const call = { values, key: `key ${n}`, ...(expects === undefined ? {} : { expected_rev: expects }) };
        return attempts.map((attempt): Timed => ({ f: 'append', call, ...attempt.interval, ending: attempt.ending }));
      }),
      ...[...reads, { from: 1_000, point: 1_001, to: 1_002 }].map((when): Timed => ({
        f: 'read',
        call: {},
        ...when,
        ending: 'answered',
      })),
    ]);

const operations = operationsWith(3);

/** The sequential model: a list, and the receipts of keys. */
function play(timed: readonly Timed[]): HistoryEvent[] {
  const log: string[] = [];
  const receipts = new Map<string, number>();
  return historyOf(timed, ({ f, call }) => {
    if (f === 'read') return { rev: log.length, entries: log.map(note) };
    const { values, key, expected_rev: expected } = call as { values: string[]; key: string; expected_rev?: number };
    const known = receipts.get(key);
    if (known !== undefined) return { first_seq: known, rev: log.length, duplicate: true };
    if (expected !== undefined && expected !== log.length) return undefined;
    receipts.set(key, log.length);
    log.push(...values);
    return { first_seq: receipts.get(key)!, rev: log.length, duplicate: false };
  });
}

const checksOf = (events: readonly HistoryEvent[]) => checkHistory(events).map(({ check }) => check);

const snapshotOf = (
  events: readonly HistoryEvent[],
  which: (read: Answered<'read'>) => boolean,
): Snapshot | undefined => {
  const read = answered(operationsOf(events), 'read').find(which);
  return read?.answer;
};
const lastRead = (events: readonly HistoryEvent[]): Snapshot =>
  snapshotOf(events, ({ invokedAt }) => invokedAt === 1_000)!;

/** Puts other values into a read, in their order. */
const rewrite = (snapshot: Snapshot, values: readonly string[]): void =>
  void Object.assign(snapshot, { rev: values.length, entries: values.map(note) });
const valuesOf = ({ entries }: Snapshot): string[] => entries.map(({ value }) => value!);

const told = (events: readonly HistoryEvent[]) =>
  answered(operationsOf(events), 'append').filter(({ answer }) => !answer.duplicate);

/** Ways to damage a history. Each returns whether there was something to damage. */
const damages: Record<string, (events: HistoryEvent[], pick: number) => boolean> = {
  'an entry is there twice': (events, pick) => {
    const read = lastRead(events);
    const values = valuesOf(read);
    if (values.length === 0) return false;
    rewrite(read, [...values, values[pick % values.length]!]);
    return true;
  },
  'an acknowledged entry is missing': (events, pick) => {
    const read = lastRead(events);
    const all = told(events).flatMap(({ call }) => call.values);
    if (all.length === 0) return false;
    rewrite(
      read,
      valuesOf(read).filter((value) => value !== all[pick % all.length]),
    );
    return true;
  },
  'two acknowledged entries have changed places': (events, pick) => {
    const read = lastRead(events);
    const all = told(events).flatMap(({ call }) => call.values);
    if (all.length < 2) return false;
    const [one, other] = [all[pick % all.length]!, all[(pick + 1) % all.length]!];
    rewrite(
      read,
      valuesOf(read).map((value) => (value === one ? other : value === other ? one : value)),
    );
    return true;
  },
  'a refused entry is there': (events, pick) => {
    const read = lastRead(events);
    const refused = operationsOf(events)
      .filter(({ f, outcome }) => f === 'append' && outcome === 'fail')
      .flatMap(({ call }) => (call as { values: string[] }).values)
      .filter((value) =>
        operationsOf(events).every(
          ({ f, call, outcome }) => f !== 'append' || !call.values.includes(value) || outcome === 'fail',
        ),
      );
    if (refused.length === 0) return false;
    rewrite(read, [...valuesOf(read), refused[pick % refused.length]!]);
    return true;
  },
  'a read lacks what was acknowledged before it': (events) => {
    const history = operationsOf(events);
    const read = answered(history, 'read').find((one) => told(events).some((append) => before(append, one)));
    if (!read) return false;
    const { first_seq: first } = told(events).find((append) => before(append, read))!.answer;
    rewrite(read.answer, valuesOf(read.answer).slice(0, first));
    return true;
  },
  'a read has what was sent after it': (events) => {
    const values = valuesOf(lastRead(events));
    const history = operationsOf(events);
    for (const read of answered(history, 'read')) {
      const later = values.findIndex((value) =>
        history.every(({ f, call, invoked }) => f !== 'append' || !call.values.includes(value) || invoked > read.ended),
      );
      if (later < 0) continue;
      rewrite(read.answer, values.slice(0, later + 1));
      return true;
    }
    return false;
  },
};

describe('linearizable appends', () => {
  test('no legal history is refused', () => {
    fc.assert(
      fc.property(operations, (timed) => {
        expect(checkHistory(play(timed))).toEqual([]);
      }),
      { numRuns: cases(150) },
    );
  });

  test.each(Object.keys(damages))('%s: found', (damage) => {
    let applied = 0;
    fc.assert(
      fc.property(operations, fc.nat(), (timed, pick) => {
        const events = play(timed);
        if (!damages[damage]!(events, pick)) return;
        applied += 1;
        expect(checksOf(events)).toContain('linearizable-appends');
      }),
      { numRuns: cases(80) },
    );
    expect(applied).toBeGreaterThan(5);
  });

  test('an order against real time: found', () => {
    let applied = 0;
    fc.assert(
      fc.property(operationsWith(1), (timed) => {
        const appends = timed.filter(
          ({ f, ending: how, call }) => f === 'append' && how === 'answered' && !('expected_rev' in call),
        );
        const first = appends.find(({ to }) => appends.some(({ from }) => from > to));
        const second = first && appends.find(({ from }) => from > first.to);
        if (!first || !second) return;
        applied += 1;
        const damaged = timed.map((one) => (one === second ? { ...one, point: first.point - 0.01 } : one));
        expect(checksOf(play(damaged))).toContain('linearizable-appends');
      }),
      { numRuns: cases(80) },
    );
    expect(applied).toBeGreaterThan(5);
  });
});

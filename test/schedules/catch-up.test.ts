// @module-tag slow
import fc from 'fast-check';
import { defineAgent, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { fireSchedules } from '../../src/features/schedules/worker/fire-schedules.ts';
import type { FireDependencies } from '../../src/features/schedules/worker/dependencies.ts';
import * as declared from '../../src/features/schedules/declaration.ts';
import type { CatchUp, Overlap } from '../../src/features/schedules/types.ts';
import { dueAt } from '../../src/features/schedules/definition/timing.ts';
import { cases } from '../support/cases.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const graceMs = 60_000;

/** Slots that a look finds together. */
interface Found {
  catchUp: CatchUp;
  overlap: Overlap;
  /** How late each of them is, the oldest first. */
  lateMs: number[];
  /** The run of an earlier slot has not ended, and its slot came on time. */
  active: boolean;
}

type Fate = 'fired' | 'skipped' | 'missed';

/** What becomes of each slot, if runs end only once no other slot can be settled: the table of docs/build/schedules-and-webhooks.md. */
function fatesOf({ catchUp, overlap, lateMs, active }: Found): Fate[] {
  const late = lateMs.map((ms) => ms > graceMs);
  if (late.includes(true) && catchUp !== 'none')
    return lateMs.map((_, i) => (catchUp === 'all' || i === lateMs.length - 1 ? 'fired' : 'missed'));
  const first = late.indexOf(false);
  return late.map((isLate, i) =>
    isLate ? 'missed' : overlap !== 'skip' || (i === first && !active) ? 'fired' : 'skipped',
  );
}

/** Of slots that pass unseen, only the newest is listed. */
const listed = (fates: Fate[]) => fates.filter((fate, i) => fate !== 'missed' || fates[i + 1] !== 'missed');

const seconds = fc.integer({ min: 1, max: 90 }).map((s) => s * 1_000);
/** Slots of which all, some or none are late; the limit itself is on time. */
const spaced = (kind: 'late' | 'mixed' | 'on time') =>
  fc
    .record({ everyMs: seconds, newestMs: fc.integer({ min: 0, max: 200_000 }), count: fc.integer({ min: 1, max: 8 }) })
    .map(({ everyMs, newestMs, count }) => ({
      everyMs,
      lateMs: Array.from({ length: count }, (_, i) => newestMs + (count - 1 - i) * everyMs),
    }))
    .filter(({ lateMs }) => {
      const late = lateMs.filter((ms) => ms > graceMs).length;
      return kind === 'mixed' ? late > 0 && late < lateMs.length : late === (kind === 'late' ? lateMs.length : 0);
    });

const kinds = ['late', 'mixed', 'on time'] as const;
const catchUps = declared.CatchUp.options;
const overlaps = declared.Overlap.options;
const combinations = catchUps.flatMap((catchUp) =>
  overlaps.flatMap((overlap) =>
    kinds.flatMap((kind) => [true, false].map((active) => ({ catchUp, overlap, kind, active }))),
  ),
);

test('the slots to run are those of the table, and those that are caught up are marked', () => {
  const any = fc.constantFrom(...kinds).chain(spaced);
  fc.assert(
    fc.property(any, fc.constantFrom(...catchUps), ({ everyMs, lateMs }, catchUp) => {
      const now = new Date(Date.UTC(2026, 10, 25));
      const slots = lateMs.map((ms) => new Date(now.getTime() - ms));
      const schedule = {
        agent: 'a',
        input: 'x',
        everyMs,
        startAt: slots[0]!,
        endAt: new Date(slots.at(-1)!.getTime() + 1),
        catchUp,
      };
      const due = dueAt(schedule, slots[0]!, now, graceMs);
      // without overlap, a slot that does not run was missed
      const fates = fatesOf({ catchUp, overlap: 'queue', lateMs, active: false });
      const late = lateMs.some((ms) => ms > graceMs) && catchUp !== 'none';
      const own = slots.filter((_, i) => fates[i] === 'fired');
      expect(due.slots).toEqual(own.map((slot) => ({ slot, late })));
      expect(due.missed).toEqual(slots.findLast((_, i) => fates[i] === 'missed'));
    }),
  );
});

describe('slots that a look finds', () => {
  let lanefold: TestLanefold;
  let db: Database;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
    db = openDatabase({ url: lanefold.database.url });
  });
  afterAll(async () => {
    await db?.close();
    await lanefold?.close();
  });

  let rounds = 0;
  test('are started, skipped and missed as the table says', { timeout: 300_000 }, async () => {
    const each = fc.tuple(...combinations.map(({ kind }) => spaced(kind)));
    await fc.assert(
      fc.asyncProperty(each, async (all) => {
        const now = new Date();
        const round = ++rounds;
        const found = all.map((spacing, i) => ({ ...combinations[i]!, ...spacing, name: `s${round}-${i}` }));
        for (const one of found) await prepare(one, now);
        await look(now);
        for (const one of found) {
          const { data } = await lanefold.schedules.slots(one.name, { limit: 100 });
          const own = data.filter(({ slot }) => slot.getTime() > now.getTime() - 86_400_000).reverse();
          expect({ ...one, fates: own.map(({ status }) => status) }).toEqual({ ...one, fates: listed(fatesOf(one)) });
        }
      }),
      { numRuns: cases(1), endOnFailure: true },
    );
  });

  /** As if no worker had looked at a schedule while it had these slots. */
  async function prepare(
    { name, catchUp, overlap, everyMs, lateMs, active }: Found & { name: string; everyMs: number },
    now: Date,
  ) {
    await lanefold.schedules.set(name, { agent: 'echo', input: 'x', cron: '0 0 1 1 *', catchUp, overlap });
    const startAt = new Date(now.getTime() - lateMs[0]!);
    const timing = { every_ms: everyMs, start_at: startAt, end_at: new Date(now.getTime() - lateMs.at(-1)! + 1) };
    await lanefold.database.pool.query('update lanefold._schedule set timing = $2, next_at = $3 where name = $1', [
      name,
      timing,
      startAt,
    ]);
    if (!active) return;
    const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'of a slot before' });
    await lanefold.database.pool.query(
      `insert into lanefold._schedule_slot (name, slot, due_at, status, thread_id, run_id)
       values ($1, now() - interval '2 days', now(), 'fired', $2, $3)`,
      [name, run.threadId, run.id],
    );
  }

  /** Looks until no slot waits. No worker executes the runs: one of each schedule ends at a time, once a look is over. */
  async function look(now: Date) {
    const at: Database = {
      ...db,
      query: async (name, ...rest) => {
        const rows = await db.query<Record<string, unknown>>(name, ...rest);
        return (name === 'due_schedules' ? rows.map((row) => ({ ...row, now })) : rows) as never;
      },
    };
    const deps: FireDependencies = {
      db: at,
      agents: ['echo'],
      onSettled: () => {},
      stopping: () => false,
      onError: (error) => expect.unreachable(String(error)),
      requests: {
        enqueue: (_, request) => lanefold.runs.enqueue(request),
        interrupt: (_, run) => lanefold.runs.cancel(run),
      },
    };
    while (await fireSchedules(deps)) {
      const { rows } = await lanefold.database.pool.query<RunRef>(
        `select distinct on (k.name) k.thread_id as "threadId", k.run_id as id from lanefold._schedule_slot k
         join lanefold.run r on r.thread_id = k.thread_id and r.id = k.run_id
         where r.finished_at is null and exists (
           select from lanefold._schedule_slot w where w.name = k.name and w.status = 'due' and w.waits) order by k.name, k.slot`,
      );
      await Promise.all(rows.map((run) => lanefold.runs.cancel(run)));
    }
  }
});

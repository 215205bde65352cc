import type { Database } from '../../../database/postgres/pool.ts';
import { dueAt, dueAfter } from '../definition/timing.ts';
import { fromStored } from '../definition/stored.ts';
import { runsEnded } from '../../../database/store/run/runs-ended.ts';
import { findDueSchedules, type ScheduleRow } from '../store/schedules.ts';
import { advanceSchedule, openSlots, type NewSlot, type OpenSlot, type PassedSlots } from '../store/slots.ts';
import type { FireDependencies } from './dependencies.ts';
import { againMs, fireSlot, runBefore } from './fire-slot.ts';

/** How late a slot may be and still be on time, in ms: a restart of all workers takes less. */
const graceMs = 60_000;
const batch = 20;
/** Slots that wait for an earlier run which a look looks at: any number of them costs it two statements. */
const mostWaiting = 200;

/** Where the next look continues with the slots that wait. */
export interface WaitingPlace {
  after?: OpenSlot | undefined;
}

/**
 * Moves on the schedules whose slots have come, and starts the runs of the slots that are due. Returns whether a slot waits
 * for an earlier run.
 */
export async function fireSchedules(deps: FireDependencies, place: WaitingPlace = {}): Promise<boolean> {
  let waiting = await fireWaiting(deps, place);
  let last: Outcome[] = ['settled'];
  while (last.includes('settled') && !deps.stopping()) {
    // in each pass: a backlog of one schedule must not delay the slots of others
    await advanceAll(deps);
    last = await fireOpen(deps);
    // a slot that was found to wait is not among the open ones of the next pass
    waiting ||= last.includes('waits');
  }
  return waiting;
}

/** Fires waiting slots whose earlier run has ended. Returns whether there may be others. */
async function fireWaiting(deps: FireDependencies, place: WaitingPlace): Promise<boolean> {
  const { db, agents } = deps;
  const first = place.after === undefined;
  const slots = await openSlots(db, agents, mostWaiting, againMs, { waiting: true, after: place.after });
  place.after = slots.length < mostWaiting ? undefined : slots.at(-1);
  if (slots.length === 0) return !first;
  const ended = await runsEnded(
    db,
    slots.flatMap((slot) => runBefore(slot) ?? []),
  );
  const keys = new Set(ended.map(({ threadId, runId }) => `${threadId} ${runId}`));
  const ready = slots.filter((slot) => {
    const run = runBefore(slot);
    return !run || keys.has(`${run.threadId} ${run.runId}`);
  });
  for (let i = 0; i < ready.length && !deps.stopping(); i += batch)
    await Promise.all(ready.slice(i, i + batch).map((slot) => fireOne(deps, slot)));
  return true;
}

async function advanceAll({ db, agents, onError, onSettled, stopping }: FireDependencies): Promise<void> {
  // one that cannot be read must not keep the others from being moved on
  for (let after: ScheduleRow | undefined; !stopping();) {
    const due = await findDueSchedules(db, agents, batch, after);
    for (const schedule of due) {
      const passed = await advance(db, schedule, schedule.now).catch(onError);
      for (const outcome of ['missed', 'skipped'] as const)
        for (let n = passed?.[outcome] ?? 0; n > 0; n--) onSettled(outcome);
    }
    after = due.at(-1);
    if (due.length < batch) return;
  }
}

type Outcome = Awaited<ReturnType<typeof fireSlot>>;

/** Fires the oldest open slot of each schedule, and says what became of them. */
async function fireOpen(deps: FireDependencies): Promise<Outcome[]> {
  const { db, agents, stopping } = deps;
  const all: Outcome[] = [];
  for (let after: OpenSlot | undefined; !stopping();) {
    const open = await openSlots(db, agents, batch, againMs, { waiting: false, after });
    all.push(...(await Promise.all(open.map((slot) => fireOne(deps, slot)))));
    after = open.at(-1);
    if (open.length < batch) break;
  }
  return all;
}

const fireOne = (deps: FireDependencies, slot: OpenSlot): Promise<Outcome> =>
  fireSlot(deps, slot).catch((error: unknown): Outcome => {
    deps.onError(error);
    return 'taken';
  });

async function advance(db: Database, row: ScheduleRow, now: Date): Promise<PassedSlots | null> {
  const schedule = fromStored(row);
  const { slots, missed, next } = dueAt(schedule, row.nextAt!, now, graceMs);
  const { jitterMs = 0 } = schedule;
  const stored: NewSlot[] = slots.map(({ slot, late }) => ({
    slot,
    late,
    status: 'due',
    due_at: dueAfter(slot, jitterMs, `${row.tenantId} ${row.name}`),
  }));
  if (missed) stored.unshift({ slot: missed, due_at: missed, late: false, status: 'missed' });
  return advanceSchedule(db, { ...row, nextAt: row.nextAt! }, next, stored);
}

import { CoalescedPoll, after, type Timer } from '../../../base/common/timer.ts';
import { untilNextSlot, readSchedules } from '../store/schedules.ts';
import type { FireDependencies, ScheduledRequests } from './dependencies.ts';
import { fireSchedules, type WaitingPlace } from './fire-schedules.ts';
import { againMs } from './fire-slot.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTransient } from '../../../database/postgres/errors.ts';
import { fromStored } from '../definition/stored.ts';
import { nextSlot } from '../definition/timing.ts';
import { readNow } from '../../../database/store/database-clock.ts';
import { advanceSchedule, dropSlots } from '../store/slots.ts';
import type { StartPart } from '../../../worker/part.ts';
import type { Database } from '../../../database/postgres/pool.ts';

/** A slot that waits for an earlier run is looked at this often, in ms. */
const waitMs = 1_000;
const longestTimerMs = 60_000;
/** Clocks are set back by less all the time, in ms. */
const backMs = 1_000;

/**
 * Looks at the schedules when their next slot comes, by the clock of the database. Without schedules it costs one small
 * query per sweep.
 */
class ScheduleClock {
  #timer: Timer | undefined;
  readonly #poll: CoalescedPoll;
  /** When the database was last asked, by its clock; a first look checks the schedules like after a clock set back. */
  #lastMs = Infinity;
  readonly #waiting: WaitingPlace = {};

  constructor(private readonly deps: Omit<FireDependencies, 'stopping'>) {
    this.#poll = new CoalescedPoll((stopping) => this.#look(stopping), deps.onError);
  }

  /** Fires what is due, and sets the timer to what comes next. Calls during a look lead to one more. */
  look(): Promise<void> {
    return this.#poll.poll();
  }

  async close(): Promise<void> {
    const closed = this.#poll.close();
    this.#timer?.cancel();
    await closed;
  }

  async #look(stopping: () => boolean): Promise<void> {
    const { db, agents } = this.deps;
    let next = await untilNextSlot(db, agents, againMs);
    if (next.atMs < this.#lastMs - backMs) {
      const done = await realignSchedules({ ...this.deps, stopping });
      next = await untilNextSlot(db, agents, againMs);
      this.#lastMs = done ? next.atMs : Infinity;
    } else this.#lastMs = next.atMs;
    let waits = false;
    if (next.now) {
      waits = await fireSchedules({ ...this.deps, stopping }, this.#waiting);
      next = await untilNextSlot(db, agents, againMs);
    }
    if (!stopping()) this.#set(waits ? Math.min(next.nextMs ?? waitMs, waitMs) : next.nextMs);
  }

  #set(ms: number | null): void {
    this.#timer?.cancel();
    if (ms === null) return;
    this.#timer = after(Math.min(Math.ceil(ms), longestTimerMs), () => void this.look(), { ref: false });
  }
}

/**
 * Moves schedules back to the slot that comes next: a clock that was ahead for a while has moved them on too far. Slots
 * that it fired early do not fire again. Returns false if one of them could not be moved.
 */
async function realignSchedules({ db, agents, onError, stopping }: FireDependencies): Promise<boolean> {
  const own = (await readSchedules(db)).filter(({ agent, pausedAt }) => agents.includes(agent) && !pausedAt);
  // only now: slots that came before the schedules were read must not come again
  const now = await readNow(db);
  let done = true;
  for (const [no, row] of own.entries()) {
    if (stopping()) return false;
    // parsing cron expressions takes a while, and the process must keep renewing its leases
    if (no % 50 === 49) await nextTurn();
    try {
      const next = nextSlot(fromStored(row), now);
      if (next && !(row.nextAt && row.nextAt <= next)) await advanceSchedule(db, row, next, []);
    } catch (error) {
      onError(error);
      if (isTransient(error)) done = false;
    }
  }
  return done;
}

/** Starts the runs of schedules. */
export const schedulesPart =
  (requests: ScheduledRequests): StartPart =>
  ({ db, agents, privatePrefix, retentionDays, telemetry, onError }) => {
    const dropOld = { everyMs: 60_000, work: () => dropOldSlots(db, retentionDays) };
    const cleanup = retentionDays > 0 ? [dropOld] : [];
    // slots belong to no queue: the runs of a private one are its own business
    if (privatePrefix !== null || agents.length === 0) return { sweeps: cleanup };
    const onSettled: typeof telemetry.slotSettled = (outcome) => telemetry.slotSettled?.(outcome);
    const clock = new ScheduleClock({ db, agents, requests, onError, onSettled });
    return {
      channels: { lanefold_schedules: () => void clock.look() },
      sweeps: [{ work: () => clock.look() }, ...cleanup],
      close: () => clock.close(),
    };
  };

const batch = 1_000;
const mostBatches = 20;

/** Deletes settled slots that are older than this, as many as ten thousand schedules have in a minute. */
async function dropOldSlots(db: Database, days: number): Promise<void> {
  for (let no = 0; no < mostBatches; no++) if ((await dropSlots(db, days, batch)) < batch) return;
}

import { Looks } from '../../common/looks.ts';
import { untilNextSlot } from '../../store/schedule/schedules.ts';
import type { FireDependencies } from './dependencies.ts';
import { fireSchedules, type WaitingPlace } from './fire-schedules.ts';
import { againMs } from './fire-slot.ts';
import { realignSchedules } from './realign-schedules.ts';
import { after, type Timer } from '../../common/timer.ts';

/** A slot that waits for an earlier run is looked at this often, in ms. */
const waitMs = 1_000;
const longestTimerMs = 60_000;
/** Clocks are set back by less all the time, in ms. */
const backMs = 1_000;

/** The clock of a worker, if it has agents. */
export const scheduleClock = (deps: Omit<FireDependencies, 'stopping'>): ScheduleClock | undefined =>
  deps.agents.length > 0 ? new ScheduleClock(deps) : undefined;

/**
 * Looks at the schedules when their next slot comes, by the clock of the database. Without schedules it costs one small
 * query per sweep.
 */
export class ScheduleClock {
  #timer: Timer | undefined;
  readonly #looks: Looks;
  /** When the database was last asked, by its clock; a first look checks the schedules like after a clock set back. */
  #lastMs = Infinity;
  readonly #waiting: WaitingPlace = {};

  constructor(private readonly deps: Omit<FireDependencies, 'stopping'>) {
    this.#looks = new Looks((stopping) => this.#look(stopping), deps.onError);
  }

  /** Fires what is due, and sets the timer to what comes next. Calls during a look lead to one more. */
  look(): Promise<void> {
    return this.#looks.look();
  }

  async close(): Promise<void> {
    const closed = this.#looks.close();
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

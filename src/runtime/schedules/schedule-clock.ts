import { untilNextSlot } from '../../store/schedule/schedules.ts';
import type { FireDependencies } from './dependencies.ts';
import { fireSchedules, type WaitingPlace } from './fire-schedules.ts';
import { againMs } from './fire-slot.ts';
import { realignSchedules } from './realign-schedules.ts';

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
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #closed = false;
  /** When the database was last asked, by its clock; a first look checks the schedules like after a clock set back. */
  #lastMs = Infinity;
  readonly #waiting: WaitingPlace = {};

  constructor(private readonly deps: Omit<FireDependencies, 'stopping'>) {}

  /** Fires what is due, and sets the timer to what comes next. Calls during a look lead to one more. */
  look(): Promise<void> {
    if (this.#looking) this.#again = true;
    else if (!this.#closed) this.#looking = this.#look().finally(() => (this.#looking = undefined));
    return this.#looking ?? Promise.resolve();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    do {
      this.#again = false;
      await this.#lookOnce().catch(this.deps.onError);
    } while (this.#again && !this.#closed);
  }

  async #lookOnce(): Promise<void> {
    const { db, agents } = this.deps;
    let next = await untilNextSlot(db, agents, againMs);
    if (next.atMs < this.#lastMs - backMs) {
      const done = await realignSchedules({ ...this.deps, stopping: () => this.#closed });
      next = await untilNextSlot(db, agents, againMs);
      this.#lastMs = done ? next.atMs : Infinity;
    } else this.#lastMs = next.atMs;
    let waits = false;
    if (next.now) {
      waits = await fireSchedules({ ...this.deps, stopping: () => this.#closed }, this.#waiting);
      next = await untilNextSlot(db, agents, againMs);
    }
    this.#set(waits ? Math.min(next.nextMs ?? waitMs, waitMs) : next.nextMs);
  }

  #set(ms: number | null): void {
    clearTimeout(this.#timer);
    if (this.#closed || ms === null) return;
    this.#timer = setTimeout(() => void this.look(), Math.min(Math.ceil(ms), longestTimerMs)).unref();
  }
}

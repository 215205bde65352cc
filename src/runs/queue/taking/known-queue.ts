import type { Clock } from '../../../base/common/clock.ts';

/**
 * How much later than a job behind it a job may become visible and still be taken in its turn: a transaction that takes
 * its number earlier may commit later.
 */
export const lagMs = 200;

/** What a statement that took jobs has seen. */
interface Scan {
  /** When it was sent. */
  startedAt: number;
  /** It has left no job without a priority up to this number; Infinity: none at all. */
  clearTo: number;
  /** The highest number given to any job so far. */
  lastSeq: number;
}

/**
 * The number from which a queue has to be read. While a transaction keeps its snapshot, the index still has the entries
 * of all jobs that waited before, and a search from the beginning reads them one by one. The numbers of jobs added to the
 * front are negative, in the same order of time, so one floor serves both ends.
 *
 * A scan only proposes a floor. A later scan that still begins below it has to confirm that nothing came after all.
 */
export class Floor {
  #seq = 0;
  #raisedAt = 0;
  #proposed: { seq: number; at: number } | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Jobs whose number, without its sign, is higher are found by a search from here. */
  get seq(): number {
    return this.#seq;
  }

  /** Whether a search from here finds a job, and every other one without a priority comes behind it. */
  leadsTo({ priority, seq }: { priority: number; seq: number }): boolean {
    return priority === 0 && seq > this.#seq;
  }

  raise({ startedAt, clearTo, lastSeq }: Scan): void {
    if (lastSeq > 0 && lastSeq < this.#seq && startedAt > this.#raisedAt) {
      // a failover or a restore has lost the numbers of some jobs, and they are given again
      this.#seq = 0;
      this.#proposed = undefined;
    }
    const proposed = this.#proposed;
    if (proposed && startedAt >= proposed.at + lagMs && clearTo >= proposed.seq) {
      this.#seq = proposed.seq;
      this.#raisedAt = this.now();
      this.#proposed = undefined;
    }
    const seq = Math.min(clearTo, lastSeq);
    if (!this.#proposed && seq > this.#seq) this.#proposed = { seq, at: this.now() };
  }
}

/** Pause between two looks, as a multiple of how long the last one took: looking takes a twentieth of the time. */
const pauses = 20;
/** The longest pause, however slow a look is. */
export const longestPauseMs = 10_000;

/**
 * Decides when to look at a whole queue, which finds every job, but reads the entries of all earlier ones. A look that
 * finds what only a look can find is followed by another one at once.
 */
export class Looks {
  #dueAt = 0;
  #isLooking = false;
  #hasMore = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Whether a look is due, which the caller then has to take with `take`, or give up with `giveUp`. */
  begin(): boolean {
    if (!this.#hasMore && (this.#isLooking || this.now() < this.#dueAt)) return false;
    this.#isLooking = true;
    return true;
  }

  /** Takes a look that has begun. `hasMore`: tells from its result whether another look would find more. */
  async take<Result>(look: () => Promise<Result>, hasMore: (result: Result) => boolean): Promise<Result> {
    const startedAt = this.now();
    try {
      const result = await look();
      this.#hasMore = hasMore(result);
      return result;
    } catch (error) {
      this.#hasMore = false;
      throw error;
    } finally {
      this.#isLooking = false;
      const now = this.now();
      this.#dueAt = now + Math.min(pauses * (now - startedAt), longestPauseMs);
    }
  }

  giveUp(): void {
    this.#isLooking = false;
  }

  /** Time until the next look is due, in ms; an estimate while one is being taken. */
  get dueInMs(): number {
    if (this.#hasMore) return 0;
    return Math.max(this.#dueAt - this.now(), this.#isLooking ? 10 : 0);
  }
}

export type Row = Record<string, unknown>;
export type Result = Promise<{ rows: Row[] }>;
export type Send = (text: string, values: unknown[]) => Result;
/** Sends a statement of BullMQ's as it is. */
export type AsBullMq = () => Result;

/** How late a delayed job may be added and still be noticed in time, in ms. */
const delayedLagMs = 5_000;

/**
 * What a pool knows of a queue. While a transaction keeps its snapshot, BullMQ's own statements read an index entry for
 * each job that has waited before. So usually the queue is read from a floor, and BullMQ's functions look at all of it now
 * and then: for jobs with a priority, delayed jobs that are due, and jobs added out of turn. With a worker that has a free
 * slot, such a job waits at most 20 times as long as a look takes, and at most ten seconds, until it is looked for; with
 * a worker that no notification wakes, for as long as BullMQ waits for one besides.
 */
export class KnownQueue {
  readonly floor = new Floor();
  readonly looks = new Looks();
  /** The last look was for a job to take, not only for the answer whether one waits. */
  lastTook = false;
  /** By `clock`, the time until which BullMQ has moved delayed jobs to the waiting ones. */
  promotedTo = 0;

  constructor(readonly clock: Clock) {}

  /** Delayed jobs that are still to be moved are due after this time. */
  get promotedSince(): number {
    return Math.min(this.promotedTo, this.clock.now()) - delayedLagMs;
  }
}

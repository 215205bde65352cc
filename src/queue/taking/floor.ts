/**
 * How much later than a job behind it a job may become visible and still be taken in its turn: a transaction that takes
 * its number earlier may commit later.
 */
export const lagMs = 200;

/** What a statement that took jobs has seen. */
export interface Scan {
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

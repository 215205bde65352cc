/**
 * The longest pause between two ends of runs once nothing goes wrong any more: calls wait for approval for 20 s, the queue
 * notices after 30 s that a job has lost its worker, and both may follow each other. A run that kills its workers ends
 * after up to 20 of them.
 */
const maxPauseMs = 400_000;

/** Whether the runs that are left continue to end, one after the other. */
export class Progress {
  #left = Infinity;
  #since: number;

  constructor(now: number) {
    this.#since = now;
  }

  /** Whether no run has ended for too long. */
  hasStopped(now: number, left: number): boolean {
    if (left < this.#left) this.#since = now;
    this.#left = left;
    return now - this.#since > maxPauseMs;
  }
}

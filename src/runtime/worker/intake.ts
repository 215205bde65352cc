import type { BullWorker } from '../../queue/queue.ts';

/** Between two questions to a database that does not answer; also the shortest pause. */
const pauseMs = 500;

/**
 * Stops a worker from fetching jobs while the database does not answer: every claim would fail at once, and the next job
 * be fetched, thousands in a second.
 */
export class Intake {
  #workers: readonly BullWorker[] = [];
  #outage: Promise<void> | undefined;
  #held = false;
  #closed = false;

  /** @param answers asks the database */
  constructor(private readonly answers: () => Promise<boolean>) {}

  get paused(): boolean {
    return this.#outage !== undefined;
  }

  open(workers: readonly BullWorker[]): void {
    this.#workers = workers;
    if (this.paused || this.#held) this.#pause();
  }

  /** Fetches no jobs until `release`. */
  hold(): void {
    this.#held = true;
    this.#pause();
  }

  release(): void {
    this.#held = false;
    if (!this.paused) this.#resume();
  }

  /** Pauses. Resolves when the database answers and jobs are fetched again, or the worker stops. */
  interrupt(): Promise<void> {
    this.#outage ??= this.#waitOut().finally(() => (this.#outage = undefined));
    return this.#outage;
  }

  close(): void {
    this.#closed = true;
  }

  #pause(): void {
    // without waiting for active jobs, which may wait for the end of the pause
    for (const worker of this.#workers) void worker.pause(true);
  }

  async #waitOut(): Promise<void> {
    this.#pause();
    do await new Promise((resolve) => setTimeout(resolve, pauseMs));
    while (!this.#closed && !(await this.answers()));
    this.#resume();
  }

  #resume(): void {
    if (this.#closed || this.#held) return;
    for (const worker of this.#workers) void worker.resume();
  }
}

import type { AsBullMq, KnownQueue, Result, Row, Send } from './known-queue.ts';
import { hasWaiting, nextDelay, nextSignal } from './take-jobs.ts';
import { delay } from '../../../base/common/timer.ts';

/** Answers whether and when a job waits, for a worker of BullMQ's that waits for one. See `KnownQueue`. */
export class JobWatch {
  #looking: Result | undefined;

  constructor(
    private readonly send: Send,
    private readonly queue: KnownQueue,
  ) {}

  /** As BullMQ's question whether a job waits. If only a look could tell, the answer comes when one is due. */
  async hasWaiting(values: unknown[], asBullMq: AsBullMq): Result {
    const found = await this.send(hasWaiting, [...values, this.queue.floor.seq]);
    if (isPresent(found)) return found;
    return (this.#looking ??= this.#lookForWaiting(values, asBullMq).finally(() => (this.#looking = undefined)));
  }

  /** As `next_delay`. */
  async nextDelay(values: unknown[]): Result {
    return this.#whenLooking(await this.send(nextDelay, [...values, this.queue.promotedSince]));
  }

  /** As `next_signal`. */
  async nextSignal(values: unknown[]): Result {
    return this.#whenLooking(await this.send(nextSignal, [...values, this.queue.promotedSince]));
  }

  async #lookForWaiting(values: unknown[], asBullMq: AsBullMq): Result {
    while (!this.queue.looks.begin()) await delay(Math.ceil(this.queue.looks.dueInMs), { ref: false });
    // A look that only asks moves no delayed job. Two of them in turn would leave no time for one that takes: so the worker
    // is told to take.
    if (!this.queue.lastTook || (await this.#hasDelayedDue(values))) {
      this.queue.looks.giveUp();
      return { rows: [{ present: true }] };
    }
    this.queue.lastTook = false;
    return this.queue.looks.take(asBullMq, isPresent);
  }

  async #hasDelayedDue(values: unknown[]): Promise<boolean> {
    try {
      const { rows } = await this.send(nextDelay, [...values, this.queue.promotedSince]);
      const at = rows[0]?.['next_delay'];
      return typeof at === 'string' && Number(at) <= this.queue.clock.now();
    } catch (error) {
      this.queue.looks.giveUp();
      throw error;
    }
  }

  /** A worker that is woken by a delayed job finds it only by a look. */
  #whenLooking({ rows }: { rows: Row[] }): { rows: Row[] } {
    const earliest = Math.ceil(this.queue.clock.now() + this.queue.looks.dueInMs);
    const later = ({ next_delay: at }: Row) => (at === null || Number(at) >= earliest ? at : earliest);
    return { rows: rows.map((row) => ({ ...row, next_delay: later(row) })) };
  }
}

const isPresent = ({ rows }: { rows: Row[] }): boolean => rows[0]?.['present'] === true;

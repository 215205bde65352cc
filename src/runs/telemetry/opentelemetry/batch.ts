import type { Attributes, Context, Counter, Histogram } from '@opentelemetry/api';
import { after, type Timer } from '../../../base/common/timer.ts';

/** The longest that work waits, in ms: less than the SDK's own batches of spans and metrics wait by default. */
const flushAfterMs = 1_000;
/** Limits the time of one flush to a few milliseconds. */
const atMost = 500;

/**
 * Collects work for the SDK, which takes several times as much CPU when it is done bit by bit, between other work:
 * ending spans and recording measurements. Counts are added up first.
 */
export class Batch {
  #waiting: (() => void)[] = [];
  /** By counter, then by attributes: callers use the same object for the same attributes. */
  readonly #added = new Map<Counter, Map<Attributes, number>>();
  #timer: Timer | undefined;

  later(work: () => void): void {
    this.#waiting.push(work);
    if (this.#waiting.length >= atMost) this.flush();
    else this.#flushSoon();
  }

  record(histogram: Histogram, value: number, attributes: Attributes, context: Context): void {
    this.later(() => histogram.record(value, attributes, context));
  }

  add(counter: Counter, value: number, attributes: Attributes): void {
    let sums = this.#added.get(counter);
    if (!sums) this.#added.set(counter, (sums = new Map<Attributes, number>()));
    sums.set(attributes, (sums.get(attributes) ?? 0) + value);
    this.#flushSoon();
  }

  /** Call at the end of a claim, so that spans and metrics read after a run are complete. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const work of waiting) work();
    for (const [counter, sums] of this.#added) {
      for (const [attributes, sum] of sums) counter.add(sum, attributes);
    }
    this.#added.clear();
  }

  #flushSoon(): void {
    this.#timer ??= after(flushAfterMs, () => this.flush(), { ref: false });
  }
}

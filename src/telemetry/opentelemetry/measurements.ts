import type { Attributes, Context, Counter, Histogram } from '@opentelemetry/api';

interface Recorded {
  histogram: Histogram;
  value: number;
  attributes: Attributes;
  context: Context;
}

/** The longest that a measurement waits, in ms: far less than the usual time between two collections of metrics. */
const flushAfterMs = 1_000;
const atMost = 1_000;

/**
 * Collects measurements and passes them to the SDK in batches: recorded one at a time, between other work, each costs
 * several times as much CPU. Counts are added up first.
 */
export class Measurements {
  #recorded: Recorded[] = [];
  /** By counter, then by attributes: callers use the same object for the same attributes. */
  readonly #added = new Map<Counter, Map<Attributes, number>>();
  #timer: NodeJS.Timeout | undefined;

  record(histogram: Histogram, value: number, attributes: Attributes, context: Context): void {
    this.#recorded.push({ histogram, value, attributes, context });
    if (this.#recorded.length >= atMost) this.flush();
    else this.#flushSoon();
  }

  add(counter: Counter, value: number, attributes: Attributes): void {
    let sums = this.#added.get(counter);
    if (!sums) this.#added.set(counter, (sums = new Map<Attributes, number>()));
    sums.set(attributes, (sums.get(attributes) ?? 0) + value);
    this.#flushSoon();
  }

  /** Call at the end of a claim, so that metrics read after a run include all of its measurements. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const recorded = this.#recorded;
    this.#recorded = [];
    for (const { histogram, value, attributes, context } of recorded) histogram.record(value, attributes, context);
    for (const [counter, sums] of this.#added) {
      for (const [attributes, sum] of sums) counter.add(sum, attributes);
    }
    this.#added.clear();
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => this.flush(), flushAfterMs).unref();
  }
}

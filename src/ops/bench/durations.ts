import { createHistogram } from 'node:perf_hooks';

/** Percentiles in milliseconds. */
export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** Collects durations in milliseconds, in a histogram of microseconds. */
export class Durations {
  readonly #micros = createHistogram();

  static of(values: readonly number[]): Durations {
    const durations = new Durations();
    for (const ms of values) durations.add(ms);
    return durations;
  }

  add(ms: number): void {
    this.#micros.record(Math.max(1, Math.round(ms * 1_000)));
  }

  clear(): void {
    this.#micros.reset();
  }

  percentiles(): Percentiles {
    const [p50, p95, p99] = [50, 95, 99].map((percent) => this.#micros.percentile(percent) / 1_000) as [
      number,
      number,
      number,
    ];
    return { p50, p95, p99 };
  }
}

import { createHistogram } from 'node:perf_hooks';

/** Latencies of the last ticks, in HDR histograms with three significant figures, a histogram for each tick. */
export class Latencies {
  #ticks;
  #current = createHistogram({ figures: 3 });

  /** @param {number} ticks how many ticks a percentile covers */
  constructor(ticks) {
    this.#ticks = Array.from({ length: ticks - 1 }, () => createHistogram({ figures: 3 }));
  }

  /** @param {number} ms */
  add(ms) {
    this.#current.record(Math.max(1, Math.round(ms * 1_000)));
  }

  /** Ends a tick. Returns pairs of percent and milliseconds, 0 without a latency. */
  take() {
    const all = createHistogram({ figures: 3 });
    for (const tick of [...this.#ticks, this.#current]) all.add(tick);
    this.#ticks.push(this.#current);
    this.#current = this.#ticks.shift();
    this.#current.reset();
    return [50, 95, 99].map((percent) => [percent, all.count === 0 ? 0 : all.percentile(percent) / 1_000]);
  }
}

import { isConnectionError } from '../../database/postgres/errors.ts';
import { after, type Timer } from '../../base/common/timer.ts';

/** The shortest pause, as a multiple of how long the work took: slow work must not use up the machine. */
const shortestPause = 10;
/** The longest that work is put off for that, in ms: recovery depends on some of it. */
const longestPauseMs = 30_000;

/** Repeats work in the background; its timers do not keep the process alive. */
export class Repeater {
  readonly #timers = new Set<Timer>();
  #stopped = false;

  constructor(private readonly onError: (error: unknown) => void) {}

  /**
   * Repeats `everyMs` after the work last ended, ±25 %, so that workers that started together spread out. After work that
   * took long twice in a row, the pause is `pauses` times as long as the faster of the two: once, it may have waited for
   * the machine, or for functions that a new session compiles. After an outage of the database it is not.
   */
  repeat(everyMs: number, work: () => Promise<unknown>, pauses = shortestPause): void {
    this.#repeat(everyMs, [0, 0], work, pauses);
  }

  /** @param took how long the work took the last time and the time before, in ms */
  #repeat(everyMs: number, took: [number, number], work: () => Promise<unknown>, pauses: number): void {
    if (this.#stopped) return;
    const run = async () => {
      this.#timers.delete(timer);
      const startedAt = performance.now();
      let isOutage = false;
      try {
        await work();
      } catch (error) {
        isOutage = isConnectionError(error);
        // work interrupted by the stop fails on closed connections, which is not worth reporting
        if (!this.#stopped) this.onError(error);
      }
      this.#repeat(everyMs, [isOutage ? 0 : performance.now() - startedAt, took[0]], work, pauses);
    };
    const pauseMs = Math.max(
      everyMs * (0.75 + Math.random() / 2),
      Math.min(Math.min(...took) * pauses, longestPauseMs),
    );
    const timer = after(pauseMs, () => void run(), { ref: false });
    this.#timers.add(timer);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer.cancel();
  }
}

import { isConnectionError } from '../../database/postgres/errors.ts';
import { listen } from '../../database/postgres/listen.ts';
import { after, type Timer } from '../../base/common/timer.ts';
import type { WorkerPart } from '../part.ts';

/** What the parts of a worker do in the background: they wake on notifications, and their sweeps repeat. */
export class Background {
  readonly #repeater: Repeater;
  readonly #notices: ReturnType<typeof listen> | undefined;

  /** @param directUrl for LISTEN; without it, parts only sweep */
  constructor(
    parts: readonly WorkerPart[],
    { sweepMs, onError, directUrl }: { sweepMs: number; onError: (error: unknown) => void; directUrl?: string },
  ) {
    const channels = Object.assign({}, ...parts.map((part) => part.channels)) as NonNullable<WorkerPart['channels']>;
    this.#notices = directUrl ? listen(directUrl, channels) : undefined;
    this.#repeater = new Repeater(onError);
    for (const { everyMs = 0, pauses, work } of parts.flatMap(({ sweeps = [] }) => sweeps))
      this.#repeater.repeat(Math.max(everyMs, sweepMs), work, pauses);
  }

  /** Begins no more sweeps. */
  stop(): void {
    this.#repeater.stop();
  }

  async close(): Promise<void> {
    await this.#notices?.close();
  }
}

/** The shortest pause, as a multiple of how long the work took: slow work must not use up the machine. */
const minPause = 10;
/** The longest that work is put off for that, in ms: recovery depends on some of it. */
const maxPauseMs = 30_000;

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
  repeat(everyMs: number, work: () => Promise<unknown>, pauses = minPause): void {
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
    const pauseMs = Math.max(everyMs * (0.75 + Math.random() / 2), Math.min(Math.min(...took) * pauses, maxPauseMs));
    const timer = after(pauseMs, () => void run(), { ref: false });
    this.#timers.add(timer);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer.cancel();
  }
}

/** Looks at schedules when their next slot comes. Without schedules it costs one small query per sweep. */
export class ScheduleClock {
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(
    private readonly fire: (stopping: () => boolean) => Promise<void>,
    /** In ms until something is to be done; 0: now. Null: there is nothing to wait for. */
    private readonly untilNext: () => Promise<{ now: boolean; nextMs: number | null }>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Fires what is due, and sets the timer to what comes next. Calls during a look lead to one more. */
  look(): Promise<void> {
    if (this.#looking) this.#again = true;
    else if (!this.#closed) this.#looking = this.#look().finally(() => (this.#looking = undefined));
    return this.#looking ?? Promise.resolve();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    do {
      this.#again = false;
      try {
        let { now, nextMs } = await this.untilNext();
        if (now) {
          await this.fire(() => this.#closed);
          // what is still due waits for an earlier run: the sweep looks again
          ({ nextMs } = await this.untilNext());
        }
        this.#set(nextMs);
      } catch (error) {
        this.onError(error);
      }
    } while (this.#again && !this.#closed);
  }

  #set(ms: number | null): void {
    clearTimeout(this.#timer);
    if (this.#closed || ms === null) return;
    this.#timer = setTimeout(() => void this.look(), Math.min(Math.ceil(ms), longestTimerMs)).unref();
  }
}

const longestTimerMs = 60_000;

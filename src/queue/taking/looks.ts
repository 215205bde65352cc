/** Pause between two looks, as a multiple of how long the last one took: looking takes a twentieth of the time. */
const pauses = 20;
/** The longest pause, however slow a look is. */
export const longestPauseMs = 10_000;

/**
 * Decides when to look at a whole queue, which finds every job, but reads the entries of all earlier ones. A look that
 * finds what only a look can find is followed by another one at once.
 */
export class Looks {
  #dueAt = 0;
  #isLooking = false;
  #hasMore = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Whether a look is due, which the caller then has to take with `take`, or give up with `giveUp`. */
  begin(): boolean {
    if (!this.#hasMore && (this.#isLooking || this.now() < this.#dueAt)) return false;
    this.#isLooking = true;
    return true;
  }

  /** Takes a look that has begun. `hasMore`: tells from its result whether another look would find more. */
  async take<Result>(look: () => Promise<Result>, hasMore: (result: Result) => boolean): Promise<Result> {
    const startedAt = this.now();
    try {
      const result = await look();
      this.#hasMore = hasMore(result);
      return result;
    } catch (error) {
      this.#hasMore = false;
      throw error;
    } finally {
      this.#isLooking = false;
      const now = this.now();
      this.#dueAt = now + Math.min(pauses * (now - startedAt), longestPauseMs);
    }
  }

  giveUp(): void {
    this.#isLooking = false;
  }

  /** Time until the next look is due, in ms; an estimate while one is being taken. */
  get dueInMs(): number {
    if (this.#hasMore) return 0;
    return Math.max(this.#dueAt - this.now(), this.#isLooking ? 10 : 0);
  }
}

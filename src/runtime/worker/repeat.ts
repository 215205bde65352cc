/** Repeats work in the background; its timers do not keep the process alive. */
export class Repeater {
  readonly #timers = new Set<NodeJS.Timeout>();
  #stopped = false;

  constructor(private readonly onError: (error: unknown) => void) {}

  /** Repeats `everyMs` after the work last ended, ±25 %, so that workers that started together spread out. */
  repeat(everyMs: number, work: () => Promise<unknown>): void {
    if (this.#stopped) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        void work()
          // work interrupted by the stop fails on closed connections, which is not worth reporting
          .catch((error: unknown) => void (this.#stopped || this.onError(error)))
          .finally(() => this.repeat(everyMs, work));
      },
      everyMs * (0.75 + Math.random() / 2),
    );
    this.#timers.add(timer.unref());
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }
}

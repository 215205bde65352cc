/** Does things again and again in this process, which they do not keep alive. */
export class Repeater {
  readonly #timers = new Set<NodeJS.Timeout>();
  #stopped = false;

  constructor(private readonly onError: (error: unknown) => void) {}

  /** `everyMs` after its last end, ±25 %: workers that started together must not stay in step. */
  repeat(everyMs: number, work: () => Promise<unknown>): void {
    if (this.#stopped) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        void work()
          .catch(this.onError)
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

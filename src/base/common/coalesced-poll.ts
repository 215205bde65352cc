/** Polls for work, once at a time: calls while it polls lead to one more poll. */
export class CoalescedPoll {
  #polling: Promise<void> | undefined;
  #again = false;
  #closed = false;

  /** @param work must end soon once `stopping` says so */
  constructor(
    private readonly work: (stopping: () => boolean) => Promise<unknown>,
    private readonly onError: (error: unknown) => void,
  ) {}

  poll(): Promise<void> {
    if (this.#polling) this.#again = true;
    else if (!this.#closed) this.#polling = this.#poll().finally(() => (this.#polling = undefined));
    return this.#polling ?? Promise.resolve();
  }

  /** Resolves once the last poll is over. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#polling;
  }

  async #poll(): Promise<void> {
    do {
      this.#again = false;
      await this.work(() => this.#closed).catch(this.onError);
    } while (this.#again && !this.#closed);
  }
}

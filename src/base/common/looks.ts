/** Looks for work, one look at a time: calls during a look lead to one more. */
export class Looks {
  #looking: Promise<void> | undefined;
  #again = false;
  #closed = false;

  /** @param work must end soon once `stopping` says so */
  constructor(
    private readonly work: (stopping: () => boolean) => Promise<unknown>,
    private readonly onError: (error: unknown) => void,
  ) {}

  look(): Promise<void> {
    if (this.#looking) this.#again = true;
    else if (!this.#closed) this.#looking = this.#look().finally(() => (this.#looking = undefined));
    return this.#looking ?? Promise.resolve();
  }

  /** Resolves once the last look is over. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#looking;
  }

  async #look(): Promise<void> {
    do {
      this.#again = false;
      await this.work(() => this.#closed).catch(this.onError);
    } while (this.#again && !this.#closed);
  }
}

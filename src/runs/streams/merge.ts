/** Sources that are added while they are read, as one sequence. Each waits until its last item was taken. */
export class Merge<KEY, ITEM> {
  readonly #ready: { key: KEY; item?: ITEM; error?: unknown; taken: () => void }[] = [];
  #open = 0;
  #wake: (() => void) | undefined;
  #left = false;

  /** `key` names the source; the end of a source is yielded too, without an item. */
  add(key: KEY, source: AsyncIterable<ITEM>): void {
    this.#open += 1;
    void this.#drain(key, source);
  }

  /** Ends with the last source. An error of a source ends all; so does leaving early, which returns every source. */
  async *[Symbol.asyncIterator](): AsyncGenerator<{ key: KEY; item?: ITEM }, void, void> {
    let taken = () => {};
    try {
      while (this.#open > 0 || this.#ready.length > 0) {
        const next = this.#ready.shift();
        if (!next) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
          continue;
        }
        if ('error' in next) throw next.error;
        ({ taken } = next);
        yield next;
        taken();
      }
    } finally {
      this.#left = true;
      // a source that waits for its item to be taken would otherwise never return, nor release what it holds
      taken();
      for (const waiting of this.#ready.splice(0)) waiting.taken();
    }
  }

  async #drain(key: KEY, source: AsyncIterable<ITEM>): Promise<void> {
    let end: { key: KEY; error?: unknown } = { key };
    try {
      for await (const item of source) {
        await this.#offer({ key, item });
        if (this.#left) break;
      }
    } catch (error) {
      end = { key, error };
    }
    this.#open -= 1;
    void this.#offer(end);
  }

  #offer(offered: { key: KEY; item?: ITEM; error?: unknown }): Promise<void> {
    return new Promise((taken) => {
      if (this.#left) return taken();
      this.#ready.push({ ...offered, taken });
      this.#wake?.();
    });
  }
}

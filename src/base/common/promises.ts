/** Does it again until it has succeeded once. */
export function once(act: () => Promise<void>): () => Promise<void> {
  let done = false;
  return async () => {
    if (done) return;
    await act();
    done = true;
  };
}

/** The items of a source that ends when `signal` aborts; then rejects with its reason, as other calls with a signal do. */
export async function* rejecting<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, void> {
  yield* items;
  signal?.throwIfAborted();
}

/** Does the tasks of a key one after the other, in the order of the calls; tasks of other keys do not wait. */
export class TurnsByKey {
  readonly #last = new Map<string, Promise<unknown>>();

  take<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(task, task);
    this.#last.set(key, result);
    const forget = () => {
      if (this.#last.get(key) === result) this.#last.delete(key);
    };
    void result.then(forget, forget);
    return result;
  }
}

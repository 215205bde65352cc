import { lanefoldClosed } from '../database/postgres/errors.ts';

/** Everything that `close` must undo, last opened first. */
export class Closers {
  readonly #closers: (() => Promise<unknown>)[] = [];
  #closed = false;

  add(closer: () => unknown): void {
    this.#closers.push(async () => closer());
  }

  /** Registers something that is starting, so that a `close` during the start waits for it and then stops it. */
  async start<T>(start: () => Promise<T>, stop: (started: T) => Promise<unknown>): Promise<T> {
    if (this.#closed) throw lanefoldClosed();
    const starting = start();
    this.#closers.push(() => starting.then(stop, () => {}));
    return starting;
  }

  /** Does what ends by itself; a `close` meanwhile aborts `closing` and waits for the end. */
  async during<T>(act: (closing: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#closed) throw lanefoldClosed();
    const closing = new AbortController();
    const acting = act(closing.signal);
    const closer = async () => {
      closing.abort(lanefoldClosed());
      await acting.catch(() => {});
    };
    this.#closers.push(closer);
    return acting.finally(() => {
      const at = this.#closers.indexOf(closer);
      if (at >= 0) this.#closers.splice(at, 1);
    });
  }

  /** Closes everything, even after a closer has failed; then throws the first error. */
  async close(): Promise<void> {
    this.#closed = true;
    let fault: unknown;
    for (const closer of this.#closers.splice(0).reverse()) await closer().catch((error: unknown) => (fault ??= error));
    if (fault !== undefined) throw fault;
  }
}

import type { Database } from '../../database/postgres/pool.ts';
import { readTails } from '../../database/store/stream/streams.ts';
import type { Page } from './page.ts';
import { after, type Timer } from '../../base/common/timer.ts';
import { onAbort } from '../../base/common/on-abort.ts';

/** How often the tails of streams with waiting readers are looked up, for appends that other processes make. */
const pollMs = 100;

/** The reads of readers that were woken together: those from the same position share one. */
export class SharedReads {
  readonly #reads = new Map<number, Promise<Page>>();

  of(from: number, read: () => Promise<Page>): Promise<Page> {
    let reading = this.#reads.get(from);
    if (!reading) this.#reads.set(from, (reading = read()));
    return reading;
  }
}

interface Waiting {
  tail: number;
  wake: Set<(shared: SharedReads) => void>;
}

/**
 * Wakes readers that wait at the end of their streams: at once after an append of this process, and within 100 ms after one of
 * another. One statement at a time looks after all of them, and none while no reader waits.
 */
export class Tails {
  readonly #waiting = new Map<number, Waiting>();
  #timer: Timer | undefined;

  constructor(private readonly db: Database) {}

  /** Resolves when the tail of the stream is no longer `tail`, or it may be closed or gone, or the signal aborts. */
  wait(id: number, tail: number, signal: AbortSignal): Promise<SharedReads> {
    if (signal.aborted) return Promise.resolve(new SharedReads());
    return new Promise((resolve) => {
      // readers that wait since before an append would otherwise wait for the next one
      if (tail > (this.#waiting.get(id)?.tail ?? tail)) this.changed(id);
      let waiting = this.#waiting.get(id);
      if (!waiting) this.#waiting.set(id, (waiting = { tail, wake: new Set() }));
      const behind = tail < waiting.tail;
      const woken = (shared: SharedReads) => {
        unlisten();
        waiting.wake.delete(woken);
        if (waiting.wake.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id);
        resolve(shared);
      };
      if (behind) return resolve(new SharedReads());
      waiting.wake.add(woken);
      const unlisten = onAbort(signal, () => woken(new SharedReads()));
      this.#schedule();
    });
  }

  /** Something was appended, or the stream was closed or deleted. */
  changed(id: number): void {
    const shared = new SharedReads();
    for (const woken of [...(this.#waiting.get(id)?.wake ?? [])]) woken(shared);
  }

  #schedule(): void {
    if (this.#timer || this.#waiting.size === 0) return;
    this.#timer = after(
      pollMs,
      () => {
        void this.#poll().finally(() => {
          this.#timer = undefined;
          this.#schedule();
        });
      },
      { ref: false },
    );
  }

  async #poll(): Promise<void> {
    const known = new Map(Array.from(this.#waiting, ([id, { tail }]) => [id, tail]));
    // the next poll may reach the database again
    const tails = await readTails(this.db, [...known.keys()]).catch(() => undefined);
    if (!tails) return;
    for (const [id, tail] of known) if (tails.get(id) !== tail) this.changed(id);
  }
}

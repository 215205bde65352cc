import type { Database } from '../postgres/pool.ts';
import { findExisting, type Subject } from '../store/trace/find-existing.ts';
import { after, type Timer } from '../common/timer.ts';
import { onAbort } from '../common/on-abort.ts';

const pollMs = 250;

/**
 * Waits for threads and runs that do not exist yet. One statement at a time asks for all of them, however many streams
 * wait; without one, nothing is asked.
 */
export class Arrivals {
  /** Of each awaited subject, what resolves its waits. */
  readonly #waiting = new Map<string, { subject: Subject; settle: Set<(exists: boolean) => void> }>();
  #timer: Timer | undefined;
  #asking = false;
  #closed = false;

  constructor(
    readonly db: Database,
    /** It is among these while streams wait. */
    private readonly active: Set<{ close(): void }> = new Set(),
  ) {}

  /** True once it exists, or its thread was erased; false when `signal` aborts, or the streams of this process end. */
  async arrived({ threadId, runId }: Subject, signal: AbortSignal): Promise<boolean> {
    if (this.#closed || signal.aborted) return false;
    const key = keyOf({ threadId, runId });
    const own = this.#waiting.get(key) ?? { subject: { threadId, runId }, settle: new Set() };
    this.#waiting.set(key, own);
    this.active.add(this);
    let settle!: (exists: boolean) => void;
    const arrival = new Promise<boolean>((resolve) => (settle = resolve));
    own.settle.add(settle);
    const unlisten = onAbort(signal, () => settle(false));
    this.#schedule();
    try {
      return await arrival;
    } finally {
      unlisten();
      own.settle.delete(settle);
      if (own.settle.size === 0 && this.#waiting.get(key) === own) this.#waiting.delete(key);
      if (this.#waiting.size === 0) this.#rest();
    }
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    for (const { settle } of this.#waiting.values()) for (const end of settle) end(false);
  }

  #rest(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.active.delete(this);
  }

  #schedule(): void {
    if (this.#timer || this.#asking || this.#closed || this.#waiting.size === 0) return;
    this.#timer = after(
      pollMs,
      () => {
        this.#timer = undefined;
        this.#asking = true;
        void this.#ask().finally(() => {
          this.#asking = false;
          this.#schedule();
        });
      },
      { ref: false },
    );
  }

  async #ask(): Promise<void> {
    const asked = [...this.#waiting.values()].map(({ subject }) => subject);
    // the next poll may reach a database that does not answer now
    const found = await findExisting(this.db, asked).catch(() => []);
    for (const subject of found) for (const settle of this.#waiting.get(keyOf(subject))?.settle ?? []) settle(true);
  }
}

const keyOf = ({ threadId, runId = '' }: Subject): string => `${threadId} ${runId}`;

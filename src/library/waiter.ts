import { LanefoldError } from '../errors.ts';
import type { Database } from '../postgres/pool.ts';
import { runsEnded, type RunKey } from '../store/run/runs-ended.ts';

interface Waiting extends RunKey {
  done: (error?: unknown) => void;
}

const shortestPauseMs = 20;
const longestPauseMs = 500;

/**
 * Waits for runs to end. However many wait, one statement at a time polls all of them; the pause grows while nothing
 * happens. A run that ends in this process resolves at once, through `notice`. A run that does not exist has ended.
 */
export class RunWaiter {
  readonly #waiting = new Map<string, Set<Waiting>>();
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = shortestPauseMs;
  #polling = false;
  #closed = false;

  constructor(readonly db: Database) {}

  /** Resolves when the run has ended; rejects with the reason of `signal`. */
  ended(threadId: string, runId: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#closed) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      const key = `${threadId} ${runId}`;
      const onAbort = () => waiting.done(signal!.reason);
      const waiting: Waiting = {
        threadId,
        runId,
        done: (error) => {
          signal?.removeEventListener('abort', onAbort);
          const group = this.#waiting.get(key);
          group?.delete(waiting);
          if (group?.size === 0) this.#waiting.delete(key);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      signal?.addEventListener('abort', onAbort);
      const group = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, group.add(waiting));
      this.#pauseMs = shortestPauseMs;
      this.#schedule();
    });
  }

  notice(threadId: string, runId: string): void {
    for (const waiting of [...(this.#waiting.get(`${threadId} ${runId}`) ?? [])]) waiting.done();
  }

  /** Rejects every wait; the runs continue. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const group of [...this.#waiting.values()]) for (const waiting of [...group]) waiting.done(closed());
  }

  #schedule(): void {
    if (this.#closed || this.#polling || this.#timer || this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#poll();
    }, this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 1.5, longestPauseMs);
  }

  async #poll(): Promise<void> {
    this.#polling = true;
    const waited = [...this.#waiting.values()].map((group) => [...group][0]!);
    try {
      const ended = await runsEnded(this.db, waited);
      if (ended.length > 0) this.#pauseMs = shortestPauseMs;
      for (const run of ended) this.notice(run.threadId, run.runId);
    } catch {
      // the next poll may reach the database again
    } finally {
      this.#polling = false;
      this.#schedule();
    }
  }
}

const closed = () =>
  new LanefoldError('wait_timeout', 'The connection was closed while waiting for a run.', {
    hint: 'The run continues; wait for it or read it on another connection.',
  });

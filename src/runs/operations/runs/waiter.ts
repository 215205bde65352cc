import { setImmediate } from 'node:timers/promises';
import type { QuietWaits, UnattendedRuns } from '../../fleet/unattended.ts';
import { lanefoldClosed } from '../../../database/postgres/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { Run, RunHandle, RunRef } from '../../../database/store/run/run.ts';
import { runsEnded, type RunKey } from '../../../database/store/run/runs-ended.ts';
import { after, type Timer, onAbort } from '../../../base/common/timer.ts';

interface Waiting extends RunKey {
  resolve: (run: Run | undefined) => void;
  reject: (error: unknown) => void;
}

const shortestPauseMs = 20;
const longestPauseMs = 500;

/**
 * Waits for runs to end. A run that may have ended already is read at once. One statement at a time polls all of them and
 * reads those that have ended; the pause between polls grows while nothing happens. A run held by a worker of the same
 * library is not polled: its last step returns it, or it is read once when the worker releases it.
 */
export class RunWaiter {
  readonly #waiting = new Map<string, Set<Waiting>>();
  readonly #held = new Set<string>();
  readonly #acceptedAt = new WeakMap<RunRef, number>();
  readonly #unread: RunKey[] = [];
  #reading = false;
  #timer: Timer | undefined;
  #pauseMs = shortestPauseMs;
  #polling = false;
  #closed = false;

  constructor(
    readonly db: Database,
    readonly quiet: Pick<QuietWaits, 'watch'>,
  ) {}

  /** The run was accepted just now: the first poll comes soon enough for it. Returns the handle. */
  accepted<Handle extends RunHandle>(handle: Handle): Handle {
    if (!handle.duplicate) this.#acceptedAt.set(handle, performance.now());
    return handle;
  }

  /**
   * Resolves to the run once it has ended, or to undefined if it does not exist; rejects with the reason of `signal`.
   * Calls `onUnattended` if no worker can take the run.
   */
  ended(
    ref: RunRef,
    onUnattended: (unattended: UnattendedRuns) => void,
    signal?: AbortSignal,
  ): Promise<Run | undefined> {
    signal?.throwIfAborted();
    if (this.#closed) return Promise.reject(lanefoldClosed());
    const run = { threadId: ref.threadId, runId: ref.id };
    let resolve!: Waiting['resolve'];
    let reject!: Waiting['reject'];
    const promise = new Promise<Run | undefined>((...settlers) => ([resolve, reject] = settlers));
    const key = keyOf(run);
    const waiting: Waiting = { ...run, resolve, reject };
    const group = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, group.add(waiting));
    this.#pauseMs = shortestPauseMs;
    this.#schedule();
    if (!this.#held.has(key) && !this.#isNew(ref)) void this.#readSoon(run);
    const unlisten = onAbort(signal, () => reject(signal!.reason));
    const quiet = this.quiet.watch(run, onUnattended);
    return promise.finally(() => {
      quiet.end();
      unlisten();
      group.delete(waiting);
      if (group.size === 0 && this.#waiting.get(key) === group) this.#waiting.delete(key);
    });
  }

  /** A worker of this process holds the run. */
  hold(run: RunKey): void {
    this.#held.add(keyOf(run));
  }

  /** Whether a caller waits for the run. */
  awaits(run: RunKey): boolean {
    return this.#waiting.has(keyOf(run));
  }

  /** The worker released the run, usually because it has `ended`. */
  release(run: RunKey, ended?: Run): void {
    if (!this.#held.delete(keyOf(run)) || !this.awaits(run)) return;
    if (ended) return this.#resolve(run, ended);
    void this.#readSoon(run);
  }

  /** Rejects every wait; the runs continue. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    for (const group of this.#waiting.values()) for (const waiting of group) waiting.reject(lanefoldClosed());
  }

  #isNew(ref: RunRef): boolean {
    return performance.now() - (this.#acceptedAt.get(ref) ?? -Infinity) < shortestPauseMs;
  }

  /** Reads the run before the next poll, in one statement with the others of the moment. */
  async #readSoon(run: RunKey): Promise<void> {
    this.#unread.push(run);
    if (this.#reading) return;
    this.#reading = true;
    while (this.#unread.length > 0) {
      await setImmediate();
      await this.#ask(this.#unread.splice(0));
    }
    this.#reading = false;
  }

  #schedule(): void {
    if (this.#closed || this.#polling || this.#timer || this.#waiting.size === 0) return;
    this.#timer = after(this.#pauseMs, () => {
      this.#timer = undefined;
      void this.#poll();
    });
    this.#pauseMs = Math.min(this.#pauseMs * 1.5, longestPauseMs);
  }

  async #poll(): Promise<void> {
    this.#polling = true;
    const asked = [...this.#waiting].flatMap(([key, group]) => (this.#held.has(key) ? [] : [...group].slice(0, 1)));
    if (asked.length > 0 && (await this.#ask(asked))) this.#pauseMs = shortestPauseMs;
    this.#polling = false;
    this.#schedule();
  }

  /** Settles the waits for runs that have ended. Returns whether any had. */
  async #ask(runs: readonly RunKey[]): Promise<boolean> {
    try {
      const ended = await runsEnded(this.db, runs);
      for (const { run, ...key } of ended) this.#resolve(key, run);
      return ended.length > 0;
    } catch {
      // the next poll may reach the database again
      return false;
    }
  }

  #resolve(key: RunKey, run: Run | undefined): void {
    for (const waiting of this.#waiting.get(keyOf(key)) ?? []) waiting.resolve(run);
  }
}

const keyOf = ({ threadId, runId }: RunKey): string => `${threadId} ${runId}`;

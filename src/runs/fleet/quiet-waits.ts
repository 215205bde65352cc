import type { RunOrThread } from '../../database/store/run/find-unheld-runs.ts';
import type { FindUnattended, UnattendedRuns } from './unattended.ts';
import { after, type Timer } from '../../base/common/timer.ts';

interface Wait extends RunOrThread {
  say: (unattended: UnattendedRuns) => void;
  /** The reasons already reported for its run, or for the run that was last active in its thread. */
  said: { runId: string | undefined; reasons: Set<UnattendedRuns['reason']> };
  quietMs: number;
  dueAt: number;
}

export interface QuietWait {
  /** Restarts the quiet period, because something has happened. */
  touch(): void;
  end(): void;
}

/** A quiet wait is checked at least this often. */
const longestQuietMs = 30_000;

/**
 * Watches quiet waits for a run, or for a thread's active run. When nothing has happened for a while, one statement
 * checks for all of them whether a worker can take their runs; each wait whose run no worker can take learns why, once
 * per reason and run. The time between checks doubles while a wait stays quiet. A short wait costs a timer and no
 * statement.
 */
export class QuietWaits {
  readonly #waits = new Set<Wait>();
  #timer: Timer | undefined;

  constructor(
    readonly find: FindUnattended,
    readonly quietMs: number,
  ) {}

  watch({ threadId, runId }: RunOrThread, say: Wait['say']): QuietWait {
    const wait: Wait = { threadId, runId, say, said: { runId, reasons: new Set() }, quietMs: 0, dueAt: 0 };
    const touch = () => {
      wait.quietMs = this.quietMs;
      wait.dueAt = performance.now() + this.quietMs;
    };
    touch();
    this.#waits.add(wait);
    this.#schedule();
    return {
      touch,
      end: () => {
        this.#waits.delete(wait);
        if (this.#waits.size > 0) return;
        this.#timer?.cancel();
        this.#timer = undefined;
      },
    };
  }

  #schedule(): void {
    if (this.#timer || this.#waits.size === 0) return;
    this.#timer = after(
      this.quietMs,
      () => {
        this.#timer = undefined;
        void this.#look().finally(() => this.#schedule());
      },
      { ref: false },
    );
  }

  async #look(): Promise<void> {
    // timers sometimes fire a little early
    const now = performance.now() + 1;
    const due = [...this.#waits].filter(({ dueAt }) => dueAt <= now);
    if (due.length === 0) return;
    for (const wait of due) {
      wait.quietMs = Math.min(wait.quietMs * 2, Math.max(longestQuietMs, this.quietMs));
      wait.dueAt = now + wait.quietMs;
    }
    // a waiter's own statements report that the database does not answer
    const found = await this.find(due).catch(() => []);
    const byRun = new Map(found.map((unattended) => [`${unattended.threadId} ${unattended.runId}`, unattended]));
    const byThread = new Map(found.map((unattended) => [unattended.threadId, unattended]));
    for (const wait of due) {
      const { threadId, runId } = wait;
      const own = runId === undefined ? byThread.get(threadId) : byRun.get(`${threadId} ${runId}`);
      if (!own || !this.#waits.has(wait)) continue;
      if (wait.said.runId !== own.runId) wait.said = { runId: own.runId, reasons: new Set() };
      if (wait.said.reasons.has(own.reason)) continue;
      wait.said.reasons.add(own.reason);
      wait.say(own);
    }
  }
}

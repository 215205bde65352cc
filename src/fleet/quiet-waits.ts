import type { RunOrThread } from '../store/run/find-unheld-runs.ts';
import type { FindUnattended, UnattendedRuns } from './unattended.ts';

interface Wait extends RunOrThread {
  say: (unattended: UnattendedRuns) => void;
  /** What it was told of its run, or of the run that was the last active one. */
  said: { runId: string | undefined; reasons: Set<UnattendedRuns['reason']> };
  quietMs: number;
  dueAt: number;
}

export interface QuietWait {
  /** Restarts the quiet period, because something has happened. */
  touch(): void;
  end(): void;
}

/** However long nothing happens, a look at least this often. */
const longestQuietMs = 30_000;

/**
 * Waits for a run, or for the active run of a thread, in which nothing happens for a while: then one statement asks for all of
 * them whether a worker can take them, and those that none can are told why, each reason once for a run. As long as a wait stays
 * quiet, it is looked at again after twice the time. A wait that ends soon costs a timer and no statement.
 */
export class QuietWaits {
  readonly #waits = new Set<Wait>();
  #timer: NodeJS.Timeout | undefined;

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
        clearTimeout(this.#timer);
        this.#timer = undefined;
      },
    };
  }

  #schedule(): void {
    if (this.#timer || this.#waits.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#look().finally(() => this.#schedule());
    }, this.quietMs).unref();
  }

  async #look(): Promise<void> {
    // timers are a little early at times
    const now = performance.now() + 1;
    const due = [...this.#waits].filter(({ dueAt }) => dueAt <= now);
    if (due.length === 0) return;
    for (const wait of due) {
      wait.quietMs = Math.min(wait.quietMs * 2, Math.max(longestQuietMs, this.quietMs));
      wait.dueAt = now + wait.quietMs;
    }
    // who waits learns from its own statements that the database does not answer
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

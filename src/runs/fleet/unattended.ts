import type { Database } from '../../database/postgres/pool.ts';
import { findUnheldRuns, type RunOrThread, type UnheldRun } from '../../database/store/run/find-unheld-runs.ts';
import { toolNames } from '../../database/store/run/find-unknown-agents.ts';
import { findLacking, type LackingReason } from '../../database/store/worker/find-lacking.ts';
import { after, type Timer } from '../../base/common/timer.ts';

/** A run that no worker can take. */
export interface UnattendedRuns {
  threadId: string;
  runId: string;
  agent: string;
  /**
   * `no_worker`: no live worker takes jobs from the run's queue. `unknown_agent`: some do, but none of them knows its
   * agent. `unknown_version`: none of those that know the agent has the version that the run wants. `unknown_strategy`: none
   * of those knows the strategy. `unknown_tool`: none of those has all tools that the run needs.
   */
  reason: LackingReason;
  /** The reason as text for people, with what to do. */
  message: string;
}

/** Finds the runs that no worker holds and none can take. */
export type FindUnattended = (runs: readonly RunOrThread[]) => Promise<UnattendedRuns[]>;

/**
 * Looks for workers only if a run has none. The role of one tenant, such as a reader's, does not see workers: it finds
 * no unattended runs.
 *
 * @param all the connections of the process: connections of one tenant see no workers
 */
export const findUnattendedIn =
  (db: Database, all: Database): FindUnattended =>
  async (runs) => {
    const unheld = await findUnheldRuns(db, runs);
    if (unheld.length === 0) return [];
    const reasons = await findLacking(all, unheld);
    return unheld.flatMap((run, place) => {
      const reason = reasons?.[place];
      if (!reason) return [];
      const { threadId, runId, agent } = run;
      return [{ threadId, runId, agent, reason, message: `Run ${runId} is waiting: ${messageOf[reason](run)}` }];
    });
  };

const quoted = JSON.stringify;

const namedTools = (names: readonly string[]): string =>
  names.length === 1
    ? `the tool ${quoted(names[0])}`
    : `all of the tools ${names.map((name) => quoted(name)).join(', ')}`;

const messageOf: Record<UnattendedRuns['reason'], (run: UnheldRun) => string> = {
  no_worker: ({ queue }) =>
    `no worker is alive to take it from the queue ${quoted(queue)}. Start one, for example with \`lanefold worker\`.`,
  unknown_agent: ({ agent }) => `no live worker knows its agent ${quoted(agent)}. Start one that does.`,
  unknown_version: ({ agent, version }) =>
    `no live worker has version ${quoted(version)} of its agent ${quoted(agent)}. Start one that does, or cancel the run.`,
  unknown_strategy: ({ agent, strategy }) =>
    `no live worker that knows its agent ${quoted(agent)} knows its strategy ${quoted(strategy)}. Start one that does.`,
  unknown_tool: ({ agent, tools }) =>
    `no live worker that knows its agent ${quoted(agent)} has ${namedTools(toolNames(tools))}. Start one that does, or cancel the run.`,
};

interface Wait extends RunOrThread {
  say: (unattended: UnattendedRuns) => void;
  /** The reasons already reported for its run, or for the run that was last active in its thread. */
  said: { runId: string | undefined; reasons: Set<UnattendedRuns['reason']> };
  quietMs: number;
  dueAt: number;
}

interface QuietWait {
  /** Restarts the quiet period, because something has happened. */
  touch(): void;
  end(): void;
}

/** A quiet wait is checked at least this often. */
const maxQuietMs = 30_000;

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
      wait.quietMs = Math.min(wait.quietMs * 2, Math.max(maxQuietMs, this.quietMs));
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

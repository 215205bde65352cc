import type { HeldRun } from '../run/held-run.ts';
import { findUntold } from '../../store/wait/child-runs.ts';
import type { CallRef } from '../../store/wait/decide-tool-call.ts';
import { findWaitTasks, readWaitTask } from '../../store/wait/wait-tasks.ts';
import type { WaitDependencies } from './dependencies.ts';
import { performTask } from './perform-task.ts';
import { tellParent } from './tell-parent.ts';

/** Rows of each kind that are read at a time. */
const batch = 200;
/** Tasks younger than this are left to the worker that stored them, in ms. */
const graceMs = 2_000;

/**
 * Does what waits ask for: at once for the runs of this worker, and again for what a worker has left. Child runs start,
 * their ends reach their parents, and those of cancelled parents are cancelled.
 */
export class WaitKeeper {
  constructor(private readonly deps: WaitDependencies) {}

  /** A call of a run of this worker waits, or has started a run. Never throws. */
  async begun({ threadId, runId }: HeldRun, call: CallRef): Promise<void> {
    await this.#attempt(async () => {
      const task = await readWaitTask(this.deps.db, { threadId, runId }, call);
      if (task) await performTask(this.deps, task);
    });
  }

  /** A run of this worker that another run started has ended. Never throws. */
  async childEnded({ threadId, runId }: HeldRun, parentThreadId: string): Promise<void> {
    const child = { thread_id: threadId, run_id: runId, parent_thread_id: parentThreadId };
    await this.#attempt(() => tellParent(this.deps, child));
  }

  /** Looks for what other workers have left. */
  async look(): Promise<void> {
    const { db, agents } = this.deps;
    for (;;) {
      const tasks = await findWaitTasks(db, { agents, graceMs }, batch);
      const done = await this.#all(tasks, (task) => performTask(this.deps, task));
      const ended = await findUntold(db, graceMs, batch);
      const told = await this.#all(ended, (child) => tellParent(this.deps, child));
      const full = (tasks.length === batch && done > 0) || (ended.length === batch && told > 0);
      if (!full) return;
    }
  }

  /** One at a time, so that a sweep takes one connection. Returns how many succeeded. */
  async #all<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<number> {
    let done = 0;
    for (const item of items) if (await this.#attempt(() => act(item))) done += 1;
    return done;
  }

  async #attempt(act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      this.deps.onError(error);
      return false;
    }
  }
}

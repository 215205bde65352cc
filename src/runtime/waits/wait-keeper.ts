import type { HeldRun } from '../run/held-run.ts';
import { findOpenRunWaits, findUntold, type EndedChild } from '../../store/wait/child-runs.ts';
import type { CallRef } from '../../checks/call.ts';
import type { WaitPlace } from '../../store/wait/wait-place.ts';
import { findWaitTasks, readWaitTask } from '../../store/wait/wait-tasks.ts';
import type { WaitDependencies } from './dependencies.ts';
import { performTask } from './perform-task.ts';
import { tellParent } from './tell-parent.ts';

/** Rows of each kind that are read at a time. */
const batch = 200;
/** Tasks younger than this are left to the worker that stored them, in ms. */
const graceMs = 2_000;
/** Open waits that are looked at again at a time. */
const again = 20;

/**
 * Does what waits ask for: at once for the runs of this worker, and again for what a worker has left. Child runs start,
 * their ends reach their parents, and those of cancelled parents are cancelled.
 */
export class WaitKeeper {
  #looking: Promise<void> | undefined;
  #after: WaitPlace | undefined;

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

  /** Looks for what other workers of the fleet have left, or other fleets long ago. Looks at the same time are one. */
  async look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { db, agents, fleet } = this.deps;
    let last: WaitPlace | undefined;
    for (let more = true; more;) {
      // each once in a look: tasks that cannot be done yet do not keep it from later ones
      const tasks = await findWaitTasks(db, { agents, graceMs, fleet }, last, batch);
      last = tasks.at(-1) ?? last;
      await this.#all(tasks, (task) => performTask(this.deps, task));
      const ended = await findUntold(db, fleet, graceMs, batch);
      const told = await this.#all(ended, (child) => this.#tell(child));
      more = tasks.length === batch || (ended.length === batch && told > 0);
    }
    await this.#lookAgain();
  }

  /**
   * Asks for the ends of runs that calls wait for, a few at each look, in turn: an end is told once, and a node that fails
   * over may lose that.
   */
  async #lookAgain(): Promise<void> {
    const { db, fleet } = this.deps;
    const waits = await findOpenRunWaits(db, fleet, this.#after, again);
    this.#after = waits.length === again ? waits.at(-1) : undefined;
    await this.#all(waits, (wait) => this.#tell(wait.child));
  }

  #tell = (child: EndedChild): Promise<true> => tellParent(this.deps, child).then(() => true);

  /** One at a time, so that a sweep takes one connection. Returns how many succeeded. */
  async #all<T>(items: readonly T[], act: (item: T) => Promise<boolean>): Promise<number> {
    let done = 0;
    for (const item of items) if (await this.#attempt(() => act(item))) done += 1;
    return done;
  }

  /** Returns false if it failed, or has to be done again. */
  async #attempt(act: () => Promise<unknown>): Promise<boolean> {
    try {
      return (await act()) !== false;
    } catch (error) {
      this.deps.onError(error);
      return false;
    }
  }
}

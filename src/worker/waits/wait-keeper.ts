import type { HeldRun } from '../run/held-run.ts';
import { findOpenRunWaits, findUntold, type EndedChild, endChild } from '../../database/store/wait/child-runs.ts';
import type { CallRef } from '../../base/checks/call-name.ts';
import type { WaitPlace } from '../../database/store/wait/wait-place.ts';
import {
  findWaitTasks,
  readWaitTask,
  endWaitTask,
  isWanted,
  type WaitTask,
} from '../../database/store/wait/wait-tasks.ts';
import type { WorkerPart } from '../part.ts';
import { tellParent, type WaitDependencies } from './tell-parent.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { isTransient } from '../../database/postgres/errors.ts';
import { dispatchFirst } from '../../runs/queue/relay.ts';
import { unlessGone } from '../../database/store/missing.ts';
import { readRun } from '../../database/store/run/read-run.ts';
import type { RunRef } from '../../database/store/run/run.ts';
import { endWait, type CallResult } from '../../database/store/wait/end-wait.ts';
import { readKeptEvent } from '../../database/store/wait/events.ts';
import { errorMessage } from '../../agent/tools/outcome.ts';

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
export class WaitKeeper implements WorkerPart {
  readonly channels = { lanefold_waits: () => void this.look().catch(this.deps.onError) };
  readonly sweeps = [{ work: () => this.look() }];
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

/**
 * Does what a wait asks for. Every task may be done again, by any worker, until one has noted that it is done. Returns
 * false if it has to be.
 */
async function performTask(deps: WaitDependencies, wait: WaitTask): Promise<boolean> {
  if (wait.task === 'start') return startChild(deps, wait);
  if (wait.task === 'cancel') return cancelChild(deps, wait);
  if (wait.kind === 'event') await askForEvent(deps, wait);
  else await tellParent(deps, endedChild(wait));
  await endWaitTask(deps.db, wait);
  return true;
}

/**
 * The request id of the run is derived from the call, so a repeat finds the run that an earlier worker started. A request
 * that is refused ends the call, unless it was accepted before: models and limits may have changed since.
 */
async function startChild(deps: WaitDependencies, wait: WaitTask): Promise<true> {
  const { db, children, onError } = deps;
  const child = childOf(wait);
  try {
    await children.start(wait.tenant_id, child, wait.request!);
  } catch (error) {
    if (isTransient(error) || (isLanefoldError(error) && error.status >= 500)) throw error;
    onError(error);
    if (!(await readRun(db, child.threadId, child.id))) {
      await neverStarted(deps, wait, error);
      await endWaitTask(db, wait);
      return true;
    }
  }
  if (await endWaitTask(db, wait)) return true;
  // Another worker has started it too, or the caller has ended meanwhile, and a worker may have looked for the run before
  // it was there.
  if (!(await isWanted(db, wait))) await children.cancel(wait.tenant_id, child).catch(unlessGone);
  return true;
}

/** Every call that waits for the run gets the error, and the run's share of the budget is its parent's again. */
async function neverStarted({ db, queue, onError }: WaitDependencies, wait: WaitTask, error: unknown): Promise<void> {
  const { code, message } = isLanefoldError(error) ? error : { code: 'internal', message: String(error) };
  const outcome = errorMessage({ type: code, message, retryable: false });
  const jobs = await endChild(db, endedChild(wait), { outcome, cost: 0, queuePrefix: queue.prefix });
  await dispatchFirst(db, queue, jobs, onError);
}

/** A worker that is starting the run right now cancels it itself, unless it dies: so ask again for a while. */
const lateStartMs = 60_000;

async function cancelChild(deps: WaitDependencies, wait: WaitTask): Promise<boolean> {
  const { db, children } = deps;
  try {
    await children.cancel(wait.tenant_id, childOf(wait));
  } catch (error) {
    unlessGone(error);
    if (wait.over_ms !== null && wait.over_ms < lateStartMs) return false;
    // it may have a share of its parent's budget
    await tellParent(deps, endedChild(wait));
  }
  await endWaitTask(db, wait);
  return true;
}

/** An event may have come before the wait was stored, and be kept. */
async function askForEvent(deps: WaitDependencies, wait: WaitTask): Promise<void> {
  const kept = await readKeptEvent(deps.db, wait.tenant_id, wait.event!, wait.created_at);
  if (kept) await end(deps, wait, { status: 'ok', content: kept.content }, kept.sent_by);
}

async function end({ db, queue, onError }: WaitDependencies, wait: WaitTask, outcome: CallResult, by?: string | null) {
  const run = { threadId: wait.thread_id, runId: wait.run_id };
  const call = { round: wait.round, index: wait.call_index };
  const given = { status: 'resolved' as const, outcome, by: by ?? undefined, queuePrefix: queue.prefix };
  const { job } = await endWait(db, run, call, given);
  if (job) await dispatchFirst(db, queue, [job], onError);
}

const childOf = (wait: WaitTask): RunRef => ({ threadId: wait.child_thread_id!, id: wait.child_run_id! });

const endedChild = (wait: WaitTask) => ({
  thread_id: wait.child_thread_id!,
  run_id: wait.child_run_id!,
  parent_thread_id: wait.thread_id,
});

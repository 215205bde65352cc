import { isLanefoldError } from '../../errors.ts';
import { isTransient } from '../../postgres/errors.ts';
import { dispatchFirst } from '../../queue/dispatch.ts';
import { unlessGone } from '../../store/missing.ts';
import { readRun } from '../../store/run/read-run.ts';
import type { RunRef } from '../../store/run/run.ts';
import { endChild } from '../../store/wait/child-runs.ts';
import { endWait, type CallResult } from '../../store/wait/end-wait.ts';
import { readKeptEvent } from '../../store/wait/events.ts';
import { endWaitTask, isWanted, type WaitTask } from '../../store/wait/wait-tasks.ts';
import { errorMessage } from '../../tools/error-message.ts';
import type { WaitDependencies } from './dependencies.ts';
import { tellParent } from './tell-parent.ts';

/**
 * Does what a wait asks for. Every task may be done again, by any worker, until one has noted that it is done. Returns
 * false if it has to be.
 */
export async function performTask(deps: WaitDependencies, wait: WaitTask): Promise<boolean> {
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

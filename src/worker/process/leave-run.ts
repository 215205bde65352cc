import { UnrecoverableError } from 'bullmq';
import { cleanText } from '../../base/checks/values.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { isTransient } from '../../database/postgres/errors.ts';
import { releaseRun, moveForTools, moveRun } from '../../database/store/run/queue-again.ts';
import { LimitReached } from '../../runs/limiter/run-limits.ts';
import { dispatchFirst, dispatch } from '../../runs/queue/relay.ts';
import type { RunJobResult } from '../../runs/queue/queue.ts';
import type { Interruption } from '../../runs/telemetry/telemetry.ts';
import { CallDeferred } from '../part.ts';
import { isLost, Released } from '../run/held-run.ts';
import { isInterruption } from '../run/run-end.ts';
import { ToolsElsewhere } from '../run/tools-elsewhere.ts';
import type { HeldJob } from './intake.ts';
import { waitForLimit, endCancelled } from './limits.ts';
import { waitForModel } from './wait-for-model.ts';
import { notifyFromHere } from '../../database/store/each-thread.ts';
import type { Claim, Refusal } from '../../database/store/run/claim-run.ts';
import { findLacking } from '../../database/store/worker/find-lacking.ts';
import { claimOnce } from './claim-job.ts';

/** How telemetry names what took a run from this worker. */
export const interruptionOf = (error: unknown): Interruption => {
  if (isInterruption(error)) return 'released';
  return isLost(error) ? 'lost' : 'failed';
};

/**
 * Decides what happens to a run that this worker cannot finish. Nothing is lost: the next worker continues from the
 * last commit. If the run no longer belongs to this worker, its job just ends; after a failover that lost commits, the
 * run is first returned to the queue, so that it need not wait for its lease to expire. A worker that is leaving, makes
 * room for a run alone or has a failing database releases the run; otherwise the lease expires and the sweep finds
 * the run.
 */
export async function onInterrupted(held: HeldJob, error: unknown): Promise<RunJobResult> {
  const { worker, run } = held;
  if (error instanceof LimitReached) return waitForLimit(held, error);
  if (error instanceof CallDeferred) return waitForModel(held, error);
  if (error instanceof ToolsElsewhere) return leaveToOthers(held, error);
  if (error instanceof UnrecoverableError) throw error;
  if (isLost(error)) {
    worker.keeper.drop(run);
    if (isLanefoldError(error, 'step_ahead')) await release(held, false).catch(() => false);
    return { status: 'lease_lost' };
  }
  const leaving = run.signal.reason instanceof Released;
  if (leaving || isTransient(error)) {
    worker.keeper.drop(run);
    const released = await release(held, leaving).catch(() => false);
    if (released && leaving) {
      worker.released += 1;
      return { status: 'released' };
    }
  }
  worker.onError(error);
  throw new UnrecoverableError(cleanText(error instanceof Error ? error.message : String(error)));
}

/**
 * Returns a run to the queue under its current lease, once this worker has stopped working on it. Unless the worker is
 * `stopping`, the claim counts as one without progress: a run whose commits the database always rejects must end.
 *
 * @returns whether the run still belonged to this worker
 */
async function release({ deps: { db }, queue, worker, run }: HeldJob, stopping: boolean): Promise<boolean> {
  const job = await releaseRun(db, run, stopping);
  if (!job) return false;
  // before another worker asks for it: the slot may be the only one, and no worker may be left
  await run.limits?.pause({ fresh: false }).catch(worker.onError);
  await dispatchFirst(db, queue, [job]);
  return true;
}

/** Moves a run whose agent this worker does not know. */
export async function moveToAgentQueue(held: HeldJob): Promise<RunJobResult> {
  const { deps, job } = held;
  if (!(await moveRun(deps.db, job.data))) return { status: 'unknown', reason: 'unknown_agent' };
  await moveJob(held, job.data.agent);
  return { status: 'queued', reason: 'unknown_agent' };
}

/**
 * Moves the job of a run to a queue that is processed only by workers with the agent or strategy this one
 * lacks. If adding it there fails, their next sweep adds it.
 */
export async function moveJob(
  { deps: { db }, queue, worker: { onError }, job }: HeldJob,
  agentQueue: string,
): Promise<void> {
  const { priority } = job.opts;
  const run = { ...job.data, queue_shard: 0, agent_queue: agentQueue, ...(priority ? { priority } : {}) };
  if (job.opts.lifo) await dispatchFirst(db, queue, [run], onError);
  else await dispatch(db, queue, run, onError);
  await notifyFromHere(db, 'lanefold_agent', `${queue.prefix} ${agentQueue}`);
}

/**
 * What becomes of a claim that was refused because this worker lacks tools. The run is moved to workers that have them; the refusal
 * then says to which queue. But a thread may name a tool of one agent, which its other agents lack everywhere: without it, the run
 * is claimed.
 */
export async function withTools(held: HeldJob, refusal: Refusal): Promise<Claim | Refusal> {
  const { deps, job } = held;
  const { tools = [], added = [] } = refusal;
  const agent = deps.agents.get(job.data.agent);
  const ofOthers = added.filter((name) => deps.agents.toolNames.includes(name));
  const reasons = await findLacking(
    deps.db,
    ofOthers.map((name) => ({ queue: held.queue.prefix, agent: agent.name, tools: [`+${name}`] })),
  );
  const ignored = ofOthers.filter((_, place) => reasons?.[place] !== undefined);
  const lacked = [...tools, ...added.filter((name) => !ignored.includes(name))];
  if (lacked.length === 0) return claimOnce(held, agent, { alone: false, ignoredTools: ignored });
  const moved = await moveForTools(
    deps.db,
    job.data,
    lacked.map((name) => `+${name}`),
  );
  return { ...refusal, ...(moved.agent_queue === undefined ? {} : { agent_queue: moved.agent_queue }) };
}

/** Gives a run that this worker holds to workers that have the tools it calls. */
async function leaveToOthers(held: HeldJob, { tools }: ToolsElsewhere): Promise<RunJobResult> {
  const { deps, worker, run, job } = held;
  const { lease } = run;
  const moved = await run.persist(() => moveForTools(deps.db, job.data, tools, lease));
  if (moved.cancel_requested) return endCancelled(held);
  worker.keeper.drop(run);
  if (moved.agent_queue === undefined) return { status: 'lease_lost' };
  await run.limits?.pause({ fresh: false }).catch(worker.onError);
  await moveJob(held, moved.agent_queue);
  return { status: 'queued', reason: 'unknown_tool' };
}

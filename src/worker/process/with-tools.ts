import type { RunJobResult } from '../../runs/queue/job.ts';
import type { Claim, Refusal } from '../../database/store/run/claim-run.ts';
import { moveForTools } from '../../database/store/run/requeue-runs.ts';
import { findLacking } from '../../database/store/worker/find-lacking.ts';
import type { ToolsElsewhere } from '../run/tools-elsewhere.ts';
import { claimOnce } from './claim-job.ts';
import type { HeldJob } from './held-job.ts';
import { endCancelled } from './limited-run.ts';
import { moveJob } from './move-job.ts';

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
export async function leaveToOthers(held: HeldJob, { tools }: ToolsElsewhere): Promise<RunJobResult> {
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

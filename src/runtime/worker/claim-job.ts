import type { AgentRegistry, ReadyAgent } from '../../agents/registry.ts';
import { claimRun, type Claim, type ClaimTerms, type Refusal, type TermsOfAgent } from '../../store/run/claim-run.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { executable } from '../run/strategy-of.ts';
import { onClaimFailed } from './claim-failed.ts';
import { delayJob, releaseJob } from './delay-job.ts';
import type { HeldJob } from './held-job.ts';
import { hasStopped, type JobWorker } from './job-worker.ts';

/**
 * Claims the run of a job. For a run that shared every worker that crashed, it first waits until this worker holds no
 * other run, and then claims it alone.
 *
 * @throws if the job was delayed, released or failed
 */
export async function claimJob(held: HeldJob, agent: ReadyAgent): Promise<Claim | Refusal> {
  const { worker, job, token, run } = held;
  const claim = await claimOnce(held, agent, false);
  if (claim.claimed || claim.reason !== 'alone') return claim;
  if (!(await worker.company.clear(run))) return delayJob(job, token);
  if (hasStopped(worker)) return releaseJob(job, token);
  run.renewed(performance.now());
  return claimOnce(held, agent, true);
}

/** @param ignoredTools that the thread names and that no worker has for the agent */
export const claimOnce = (
  held: HeldJob,
  agent: ReadyAgent,
  alone: boolean,
  ignoredTools?: readonly string[],
): Promise<Claim | Refusal> => {
  const { deps, worker, job, run } = held;
  return claimRun(deps.db, {
    ...{ threadId: run.threadId, runId: run.runId, enqueueNo: job.data.enqueue_no },
    ...claimTerms(deps, worker, agent, alone),
    ...(ignoredTools && { ignoredTools }),
  }).catch((error: unknown) => onClaimFailed(held, error));
};

export const claimTerms = (
  { agents }: RunDependencies,
  worker: JobWorker,
  agent: ReadyAgent,
  alone: boolean,
): ClaimTerms => ({
  workerId: worker.id,
  leaseMs: worker.leaseMs,
  ...termsOf(agents, agent),
  versions: versionsOf(agents, agent.name),
  maxClaimsWithoutProgress: worker.maxClaimsWithoutProgress,
  alone,
  strategies: executable(agents),
});

const termsOf = (
  { extraTools }: AgentRegistry,
  { instructions, fingerprint, version, tools }: ReadyAgent,
): TermsOfAgent => ({
  prompt: instructions ?? null,
  fingerprint,
  agentVersion: version.id,
  tools: [...new Set([...tools.keys(), ...extraTools.keys()])],
});

/** Versions without a label go by their ids. */
function versionsOf(agents: AgentRegistry, name: string): ClaimTerms['versions'] {
  const versions = agents.versions(name);
  if (versions.length < 2 && versions[0]?.version.label === undefined) return undefined;
  return Object.fromEntries(versions.map((agent) => [agent.version.label ?? agent.version.id, termsOf(agents, agent)]));
}

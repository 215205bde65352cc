import { dispatch } from '../../queue/dispatch.ts';
import type { RunJobResult } from '../../queue/job.ts';
import type { Claim, Refusal } from '../../store/run/claim-run.ts';
import { refusedClaims, type RefusedClaim } from '../../telemetry/telemetry.ts';
import { delayJob } from './delay-job.ts';
import { settleRun } from '../limits/settle-run.ts';
import { executeRun } from './execute-run.ts';
import type { HeldJob } from './held-job.ts';
import { moveJob } from './move-job.ts';
import { withTools } from './with-tools.ts';

/** Executes a claimed run to its end, or does what a refused claim asks for. Returns the result of the job. */
export async function afterClaim(held: HeldJob, answer: Claim | Refusal, startedAt: number): Promise<RunJobResult> {
  const { worker, job, run } = held;
  const claim = answer.claimed || answer.reason !== 'unknown_tool' ? answer : await withTools(held, answer);
  const onEnd = (status: string) =>
    worker.onRunEnd?.({
      ...{ threadId: run.threadId, runId: run.runId, agent: job.data.agent, status },
      durationMs: Math.round(performance.now() - startedAt),
    });
  return claim.claimed ? executeRun(held, claim, onEnd) : afterRefusal(held, claim, onEnd);
}

async function afterRefusal(
  held: HeldJob,
  { reason, status, promoted, agent_queue: agentQueue, delay_ms: delayMs }: Refusal,
  onEnd: (status: string) => void,
): Promise<RunJobResult> {
  const { deps, queue, worker, job, token, run } = held;
  if (reason === 'early') return delayJob(job, token, delayMs);
  if (isEnding(reason)) {
    worker.telemetry.runRefused({ threadId: run.threadId, runId: run.runId, agent: job.data.agent }, reason);
    onEnd(status ?? 'failed');
  }
  if (promoted) await dispatch(deps.db, queue, promoted, worker.onError);
  if (agentQueue) await moveJob(held, agentQueue);
  // The run may have resumed and ended before this job came, or its worker may have died before it settled the run.
  if (hasEnded(status)) await settleRun(deps, run).catch(worker.onError);
  return { status: status ?? 'unknown', reason };
}

const hasEnded = (status: string | null): boolean =>
  status === null || ['completed', 'failed', 'cancelled'].includes(status);

const isEnding = (reason: string): reason is RefusedClaim => refusedClaims.some((ending) => ending === reason);

import type { JsonObject, Usage } from '../../context/message.ts';
import { delayRun } from '../../store/limit/delay-run.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import { spentOf, type SpentByModel } from '../../store/run/spent.ts';
import type { RunJobResult } from '../../queue/job.ts';
import type { LimitReached } from '../limits/limit-reached.ts';
import type { RunEnd } from '../run/run-end.ts';
import { RunLimits } from '../limits/run-limits.ts';
import { delayJob } from './delay-job.ts';
import type { HeldJob } from './held-job.ts';

/** The limits of a run that was just claimed; undefined if the database has none. */
export function limitsOfRun({ deps, job, run }: HeldJob, claim: Claim): RunLimits | undefined {
  const { gate, counting } = deps;
  if (!gate || gate.version === 0) return undefined;
  const { options } = claim;
  const at = new Date(claim.created_at);
  const limited = {
    ...{ threadId: run.threadId, runId: run.runId, tenant: claim.tenant_id, agent: claim.agent, caller: claim.caller },
    ...{ limitKeys: options?.limit_keys ?? {}, createdAt: claim.created_at, priority: options?.priority ?? 0 },
    job: { queue: job.queueName, enqueue_no: job.data.enqueue_no, agent: claim.agent },
  };
  const price: ConstructorParameters<typeof RunLimits>[2] = (model, tokens) =>
    counting.priceOf(model, { calls: 1, cachedTokens: 0, writtenTokens: 0, ...tokens }, at);
  return new RunLimits(gate, limited, price, spentIn(claim, claim.iteration, claim.usage, claim.other_usage));
}

/** What a run has used by now, by model. */
const spentIn = (
  { model, created_at: createdAt }: Claim,
  iteration: number,
  usage: Usage | null | undefined,
  otherUsage: Record<string, Usage> | null | undefined,
): SpentByModel[] =>
  spentOf({ model, createdAt: new Date(createdAt), iteration, usage: usage ?? null, otherUsage: otherUsage ?? null });

/** A run has ended, or waits for approval: what it reserved returns, and what it used is settled. */
export async function settleLimits(limits: RunLimits, claim: Claim, end: RunEnd): Promise<void> {
  if (end.status === 'suspended') return limits.pause();
  await limits.end(spentIn(claim, end.iteration, end.usage, end.otherUsage), { fresh: claim.fresh });
}

/**
 * Has a run wait, without a worker, for the limit that refused it. First the run and its job are delayed, then the run
 * gets in line: whoever lets it go on finds the job.
 *
 * @throws always: `DelayedError` tells BullMQ that the job has moved
 */
export async function waitForLimit(held: HeldJob, { place, delayMs }: LimitReached): Promise<RunJobResult> {
  const { deps, queue, worker, job, token, run } = held;
  const [owner, limit, key] = [...place.split(' ', 2), place.split(' ').slice(2).join(' ')] as [string, string, string];
  const waitingFor: JsonObject = {
    limit,
    ...(owner === '*' ? {} : { owner }),
    ...(key === '' ? {} : { key }),
    ...(delayMs === undefined ? {} : { until: new Date(Date.now() + delayMs).toISOString() }),
  };
  const { delayed } = await run.persist(() => delayRun(deps.db, run, waitingFor));
  worker.keeper.drop(run);
  if (!delayed) return { status: 'lease_lost' };
  return delayJob(job, token, Math.min(delayMs ?? longestDelayMs, longestDelayMs), async () => {
    // the sweep puts a run in line, or wakes it, if this fails
    const wakes = await run.limits!.wait().catch(worker.onError);
    if (wakes) await queue.wake({ ...job.data, queue: job.queueName }).catch(worker.onError);
  });
}

/** Should nobody let the run go on, because every process that could has died, its job asks again after this. */
const longestDelayMs = 3_600_000;

import type { EvalRequests } from '../features/evals/worker/dependencies.ts';
import { evalsPart } from '../features/evals/worker/part.ts';
import type { Scorer } from '../features/evals/scorers/scorer.ts';
import { monitorsPart } from '../features/monitors/worker/part.ts';
import type { ScheduledRequests } from '../features/schedules/worker/dependencies.ts';
import { schedulesPart } from '../features/schedules/worker/part.ts';
import { webhooksPart } from '../features/webhooks/worker/part.ts';
import type { DeliveryNotices } from '../database/store/delivery-notices.ts';
import type { RunQueue } from '../runs/queue/queue.ts';
import type { RunningWorker, WorkerOptions } from '../worker/process/options.ts';
import { startWorker, type WorkerDependencies } from '../worker/process/worker.ts';

/** What a worker needs with its features. */
export interface WorkerWithFeatures extends Omit<WorkerDependencies, 'parts'> {
  scheduleRequests: ScheduledRequests;
  evalRequests: EvalRequests;
  scorers: readonly Scorer[];
  deliveryNotices: DeliveryNotices | undefined;
  /** Webhooks may have `http:` URLs and private addresses. */
  privateWebhooks: boolean;
}

/** Starts a worker with all features. This module loads them, so import it on demand. */
export function startFullWorker(
  { scheduleRequests, evalRequests, scorers, deliveryNotices: notices, privateWebhooks, ...core }: WorkerWithFeatures,
  queue: RunQueue,
  options: WorkerOptions,
): Promise<RunningWorker> {
  const { webhookTimeoutMs: timeoutMs = 10_000 } = options;
  const parts = [
    schedulesPart(scheduleRequests),
    webhooksPart({ anywhere: privateWebhooks, timeoutMs, notices }),
    evalsPart(evalRequests, scorers),
    monitorsPart(evalRequests.acceptingFor, scorers),
  ];
  return startWorker({ ...core, parts }, queue, options);
}

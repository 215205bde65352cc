import type { JsonObject } from '../../agent/context/message.ts';
import { classify } from '../../agent/models/classify-error.ts';
import { outcomeOf } from '../../agent/models/failure.ts';
import { CallDeferred, type GuardedCall } from '../part.ts';
import type { RunDependencies } from './dependencies.ts';
import { isOfLimits, modelFailed } from './reserve-call.ts';

/**
 * Asks whether a model may be called now, before anything is reserved for the call.
 *
 * @throws CallDeferred if it may not
 */
export async function beginAttempt(
  { features, models }: Pick<RunDependencies, 'features' | 'models'>,
  model: string,
): Promise<GuardedCall | undefined> {
  // every name of a model has the circuit of what it stands for
  const answer = await features?.attemptAt(models.target(model));
  if (answer instanceof CallDeferred) throw answer;
  return answer;
}

/**
 * Tells how an attempt failed. Returns what its run waits for instead of trying again, if the failure would be retried: then it costs
 * no retry.
 *
 * @param isStopped the call was not wanted any more
 */
export async function failAttempt(
  attempt: GuardedCall | undefined,
  error: unknown,
  isStopped: boolean,
): Promise<CallDeferred | undefined> {
  if (!attempt) return undefined;
  const known = !isStopped && !isOfLimits(error);
  const deferred = await attempt.ended(known ? outcomeOf(classify(error, 'llm_request')) : undefined);
  if (!deferred || !known) return undefined;
  const failed = modelFailed(error);
  if (!failed.retryable) return undefined;
  const { waitsFor, delayMs, isOver } = deferred;
  return new CallDeferred(waitsFor, delayMs, isOver, { ...failed.error } as JsonObject);
}

import type { ModelName } from '../../../agent/models/registry/model-name.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId, newRunId } from '../../../base/checks/ids.ts';
import type { RunHandle, RunRef } from '../../../database/store/run/run.ts';
import { enqueueRequest, requestHash } from './enqueue-request.ts';
import type { EnqueueDeps, EnqueueOptions } from './enqueue.ts';
import { repeatedBody, requestOf } from './original-request.ts';

export interface RetryOptions {
  /** Replaces the run's model. */
  model?: ModelName;
  busy?: EnqueueOptions['busy'];
  /**
   * True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has asked it
   * gets the answer that the agent gave then.
   */
  freshChildren?: boolean;
  /** Repeating the id returns the same run; default: the new run's own id, so that each call starts a new run. */
  requestId?: string;
}

/** Accepts a run that repeats the request of an ended one. See `Runs.retry`. */
export async function retry(
  deps: EnqueueDeps,
  run: RunRef,
  { model, busy, freshChildren, requestId }: RetryOptions = {},
  caller?: string,
): Promise<RunHandle> {
  if (requestId !== undefined) assertId(requestId, 'The request id');
  const found = await requestOf(deps, run);
  if (!found.ended) {
    throw new LanefoldError('run_active', `Run ${run.id} has not ended.`, {
      hint: 'Wait for it to end, or cancel it.',
    });
  }
  if (model !== undefined) deps.models.check(model);
  const body = repeatedBody(found, run.id, model, freshChildren ? { fresh_children: true } : {});
  const id = newRunId();
  const hash = requestHash(body);
  const request = { threadId: run.threadId, body, id, requestId: requestId ?? id, hash, busy, createThread: false };
  return enqueueRequest(deps, request, { caller });
}

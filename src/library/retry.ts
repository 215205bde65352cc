import type { JsonObject } from '../context/message.ts';
import { LanefoldError } from '../errors.ts';
import { assertId, newRunId } from '../ids.ts';
import { runNotFound } from '../store/missing.ts';
import { readRequest } from '../store/run/read-request.ts';
import type { RunHandle } from '../store/run/run.ts';
import type { RunRef } from '../store/run/run-ref.ts';
import { accept } from './accept.ts';
import type { EnqueueDeps, EnqueueOptions } from './enqueue.ts';
import { requestHash } from './request-hash.ts';

export interface RetryOptions {
  /** Another model than that of the run. */
  model?: string;
  busy?: EnqueueOptions['busy'];
  /** The same id again returns the same run; default: the new run's own id, so that each call starts one. */
  requestId?: string;
}

/** Options that the acceptance of a run adds by itself, and those that say where it came from. */
const own = ['active_lane', 'resumed_from', 'retry_of'];

/** Accepts a run with the request of one that has ended. See `Runs.retry`. */
export async function retry(
  deps: EnqueueDeps,
  run: RunRef,
  { model, busy, requestId }: RetryOptions = {},
  caller?: string,
): Promise<RunHandle> {
  if (requestId !== undefined) assertId(requestId, 'The request id');
  const found = await readRequest(deps.db, run.threadId, run.id);
  if (!found) throw runNotFound(run.threadId, run.id);
  if (!found.ended) {
    throw new LanefoldError('run_active', `Run ${run.id} has not ended.`, { hint: 'Wait for its end, or cancel it.' });
  }
  if (!found.input) {
    throw new LanefoldError('invalid_input', `What run ${run.id} was asked is no longer known.`, {
      hint: 'It ended before it began, under an older version. Enqueue the question again.',
    });
  }
  // a process without agents, such as the command line's, leaves that to the workers
  if (deps.agents.names.length > 0) deps.agents.get(found.agent);
  if (model !== undefined) deps.models.check(model);
  const options: JsonObject = { ...found.options };
  for (const key of own) delete options[key];
  const body: JsonObject = {
    ...{ agent: found.agent, strategy: found.strategy, model: model ?? found.model, context_ref: found.context_ref },
    input: found.input,
    options: { ...options, retry_of: run.id },
  };
  const id = newRunId();
  const hash = requestHash(body);
  const request = { threadId: run.threadId, body, id, requestId: requestId ?? id, hash, busy, createThread: false };
  return accept(deps, request, { caller });
}

import type { RunHandle, RunRef } from '../../../database/store/run/run.ts';
import { enqueueRequest, type EnqueueContext } from './enqueue-request.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { childRequestId, type StoredChild } from '../../../database/store/wait/wait-tasks.ts';
import { fork } from '../threads/create.ts';
import type { EnqueueDeps, OwnEnqueueOptions } from './enqueue-options.ts';
import { toRequest } from './to-request.ts';

/** Accepts a run and gives it to the queue. See `Runs.enqueue`. */
export const enqueue = async (
  deps: EnqueueDeps,
  options: OwnEnqueueOptions,
  by: EnqueueContext = {},
): Promise<RunHandle> => enqueueRequest(deps, await toRequest(deps, options, by), by);

/** Starts the run that a tool call of another run asked for. Repeating it returns the same run. */
export async function startChild(deps: EnqueueDeps, child: RunRef, request: StoredChild): Promise<RunHandle> {
  const { agent, input, parent, caller, fork: point, ...options } = request;
  if (point) {
    const at = { id: child.threadId, atSeq: point.seq, contextRef: point.context_ref };
    await fork(deps.db, deps.agents, parent.thread_id, at);
  }
  return enqueue(
    deps,
    {
      agent,
      input,
      threadId: child.threadId,
      createThread: !point,
      runId: child.id,
      requestId: childRequestId(parent.run_id, parent.round, parent.index),
      parent,
      ...omitUndefined({
        model: options.model,
        maxCost: options.max_cost,
        maxIterations: options.max_iterations,
        toolContext: options.tool_context,
        limitKeys: options.limit_keys,
      }),
    },
    { caller },
  );
}

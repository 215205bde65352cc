import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { ScheduleDefinition } from '../types.ts';
import { toRequest } from '../../../runs/operations/runs/to-request.ts';

/** @throws what `runs.enqueue` throws for a request that the runs of a schedule could not make, whatever the limits are */
export async function checkRuns(
  { admission: _, ...deps }: EnqueueDeps,
  { agent, input, threadId, options }: ScheduleDefinition,
  from: OverrideCaller = 'library',
): Promise<void> {
  const request = { ...options, agent, input, ...(threadId === undefined ? {} : { threadId, createThread: true }) };
  await toRequest(deps, request, { from });
}

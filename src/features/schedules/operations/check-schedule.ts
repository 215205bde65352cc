import { assertId } from '../../../base/checks/ids.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { ScheduleDefinition } from '../types.ts';
import { toRequest } from '../../../runs/operations/runs/to-request.ts';

/** The request id of a run has the name and the time of its slot, and ids have 128 characters. */
const longestName = 90;

/** @throws LanefoldError `invalid_id` */
export function assertName(name: string): void {
  assertId(name, 'The name of the schedule');
  if (name.length <= longestName) return;
  throw new LanefoldError('invalid_id', `The name of the schedule has ${name.length} characters.`, {
    hint: `Nothing was written. Use at most ${longestName}.`,
    details: { what: 'The name of the schedule' },
  });
}

/** @throws what `runs.enqueue` throws for a request that the runs of a schedule could not make, whatever the limits are */
export async function checkRuns(
  { admission: _, ...deps }: EnqueueDeps,
  { agent, input, threadId, options }: ScheduleDefinition,
  from: OverrideCaller = 'library',
): Promise<void> {
  const request = { ...options, agent, input, ...(threadId === undefined ? {} : { threadId, createThread: true }) };
  await toRequest(deps, request, { from });
}

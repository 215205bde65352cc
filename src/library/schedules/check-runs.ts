import type { OverrideCaller } from '../../agents/overridable.ts';
import type { ScheduleDefinition } from '../../schedules/definition.ts';
import { assertRunOverrides } from '../runs/allow-overrides.ts';
import { toRequest, type EnqueueDeps } from '../runs/enqueue.ts';

/** @throws what `runs.enqueue` throws for a request that the runs of a schedule could not make */
export async function checkRuns(
  deps: EnqueueDeps,
  { agent, input, options }: ScheduleDefinition,
  from: OverrideCaller = 'library',
): Promise<void> {
  const request = { ...options, agent, input };
  assertRunOverrides(deps.agents, deps.models, request, from);
  await toRequest(deps, request);
}

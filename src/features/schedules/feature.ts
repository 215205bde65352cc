import type { Feature } from '../feature.ts';
import { checked } from '../../base/operations/checked.ts';
import { schedules } from './declaration.ts';
import { checkRuns } from './operations/check-schedule.ts';
import { schedulesOf } from './operations/schedules.ts';
import { syncSchedules } from './operations/sync.ts';
import { eraseSchedules } from './store/schedules.ts';
import type { ScheduleDefinition, Schedules } from './types.ts';

/** @param defined by the program: workers set them when they start */
export const schedulesFeature = (
  defined: Readonly<Record<string, ScheduleDefinition>> | undefined,
): Feature<{ schedules: Schedules }> => ({
  operations: ({ scopeTo, acceptingOn }, db) => ({
    schedules: checked(
      schedules,
      schedulesOf(db, scopeTo, (on, schedule, from) => checkRuns(acceptingOn(on), schedule, from)),
    ),
  }),
  keeper: { eraseTenant: eraseSchedules },
  async prepareWorker({ acceptingOn, scopeTo, ownTenant }) {
    if (defined) await syncSchedules(acceptingOn(scopeTo(ownTenant)), defined);
  },
  async loadPart() {
    const { schedulesPart } = await import('./worker/part.ts');
    return ({ runsFor }) =>
      schedulesPart({
        enqueue: (tenant, request) => runsFor(tenant).enqueue(request),
        interrupt: (tenant, run) => runsFor(tenant).cancel(run, 'schedule_interrupted'),
      });
  },
});

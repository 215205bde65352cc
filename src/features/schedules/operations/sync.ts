import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import { defaultTenant } from '../../../base/checks/ids.ts';
import { checkBody } from '../../../base/operations/checked.ts';
import { schedules } from '../declaration.ts';
import type { ScheduleDefinition } from '../types.ts';
import { checkDefinition } from '../definition/check-definition.ts';
import { toStored } from '../definition/stored.ts';
import { nextSlot } from '../definition/timing.ts';
import { readNow } from '../../../database/store/database-clock.ts';
import { readSchedules, removeSchedule, setSchedule } from '../store/schedules.ts';
import { assertName } from './check-schedule.ts';
import { checkRuns } from './check-schedule.ts';

const by = 'code';

/**
 * Sets the schedules that a program defines. Removes those that it once defined and does no more, if their agent is one of
 * its own: another program may define the others. All are checked before the first is set.
 *
 * @throws what `schedules.set` throws
 */
export async function syncSchedules(
  deps: EnqueueDeps,
  defined: Readonly<Record<string, ScheduleDefinition>>,
): Promise<void> {
  const { db, agents } = deps;
  const tenant = db.tenant ?? defaultTenant;
  const now = await readNow(db);
  for (const [name, definition] of Object.entries(defined)) {
    assertName(name);
    checkBody(`Schedule ${JSON.stringify(name)}`, schedules.operations.set, definition);
    checkDefinition(definition, now, { mayHaveEnded: true });
    await checkRuns(deps, definition);
  }
  for (const [name, schedule] of Object.entries(defined)) {
    const nextAt = nextSlot(schedule, now);
    await setSchedule(db, tenant, name, toStored(schedule), { nextAt, source: 'code', by });
  }
  for (const { tenantId, name, agent, source } of await readSchedules(db)) {
    if (source !== 'code' || tenantId !== tenant || Object.hasOwn(defined, name) || !agents.has(agent)) continue;
    await removeSchedule(db, tenant, name, { by, source });
  }
}

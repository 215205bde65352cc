import { assertId } from '../../checks/ids.ts';
import type { ScheduleDefinition } from '../../schedules/definition.ts';
import { readDefinition } from '../../schedules/read-definition.ts';
import { toStored } from '../../schedules/stored.ts';
import { nextSlot } from '../../schedules/timing.ts';
import { readNow } from '../../store/now.ts';
import { readSchedules, removeSchedule, setSchedule } from '../../store/schedule/schedules.ts';
import type { EnqueueDeps } from '../runs/enqueue.ts';
import { checkRuns } from './check-runs.ts';

/**
 * Sets the schedules that a program defines. Removes those that it once defined and does no more, if their agent is one of
 * its own: another program may define the others.
 */
export async function syncSchedules(
  deps: EnqueueDeps,
  defined: Readonly<Record<string, ScheduleDefinition>>,
): Promise<void> {
  const { db, agents } = deps;
  const tenant = db.tenant ?? 'default';
  const now = await readNow(db);
  for (const [name, definition] of Object.entries(defined)) {
    assertId(name, 'The name of the schedule');
    const schedule = readDefinition(definition, now, { mayHaveEnded: true });
    await checkRuns(deps, schedule);
    const nextAt = nextSlot(schedule, now);
    await setSchedule(db, tenant, name, toStored(schedule), { nextAt, source: 'code', by: 'code' });
  }
  for (const { tenantId, name, agent, source } of await readSchedules(db)) {
    if (source !== 'code' || tenantId !== tenant || Object.hasOwn(defined, name) || !agents.has(agent)) continue;
    await removeSchedule(db, tenantId, name);
  }
}

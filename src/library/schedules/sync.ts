import { defaultTenant } from '../../checks/ids.ts';
import { writeAudit } from '../../store/access/audit.ts';
import type { ScheduleDefinition } from '../../schedules/definition.ts';
import { readDefinition } from '../../schedules/read-definition.ts';
import { toStored } from '../../schedules/stored.ts';
import { nextSlot } from '../../schedules/timing.ts';
import { readNow } from '../../store/now.ts';
import { readSchedules, removeSchedule, setSchedule } from '../../store/schedule/schedules.ts';
import type { EnqueueDeps } from '../runs/enqueue.ts';
import { assertName } from './assert-name.ts';
import { checkRuns } from './check-runs.ts';

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
  const checked: [string, ScheduleDefinition][] = [];
  for (const [name, definition] of Object.entries(defined)) {
    assertName(name);
    const schedule = readDefinition(definition, now, { mayHaveEnded: true });
    await checkRuns(deps, schedule);
    checked.push([name, schedule]);
  }
  const before = (await readSchedules(db)).filter(({ tenantId }) => tenantId === tenant);
  const audit = (action: string, detail: { name: string }) =>
    writeAudit(db, { actor: by, action: `schedules.${action}`, tenantId: tenant, detail });
  for (const [name, schedule] of checked) {
    const nextAt = nextSlot(schedule, now);
    const version = await setSchedule(db, tenant, name, toStored(schedule), { nextAt, source: 'code', by });
    if (version !== before.find((one) => one.name === name)?.version) await audit('set', { name });
  }
  for (const { name, agent, source } of before) {
    if (source !== 'code' || Object.hasOwn(defined, name) || !agents.has(agent)) continue;
    if (await removeSchedule(db, tenant, name)) await audit('remove', { name });
  }
}

import { assertId } from '../../../base/checks/ids.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { ownersOn, type Owner } from '../../../runs/operations/access/tenant-scope.ts';
import { pauseAlarm, readAlarm, readAlarms, readCounts, removeAlarm, setAlarm } from '../store/alarms.ts';
import type { AlarmDefinition, Alarms, ListedAlarm } from '../types.ts';

const what = 'The name of the alarm';
const minute = 60_000;
const day = 86_400_000;

/** @param scopeTo the same connections for a tenant */
export function alarmsOf(db: Database, scopeTo: (tenant: string) => Database): Alarms {
  const ownerOf = ownersOn(db, scopeTo);
  const own = (name: string, owner: Owner) => {
    assertId(name, what);
    return ownerOf(owner);
  };
  const find = async (name: string, owner: Owner): Promise<ListedAlarm> => {
    const { tenant, on } = own(name, owner);
    const found = await readAlarm(on, tenant, name);
    if (!found) throw notFound(name, tenant);
    return found;
  };
  const setPaused = async (name: string, owner: Owner, paused: boolean): Promise<ListedAlarm> => {
    const { tenant, by, on } = own(name, owner);
    if (!(await pauseAlarm(on, tenant, name, { paused, by }))) throw notFound(name, tenant);
    return find(name, { tenant });
  };
  return {
    async set(name, definition, owner = {}) {
      const { tenant, by, on } = own(name, owner);
      assertStorable(definition.filter, 'The filter');
      await setAlarm(on, tenant, name, complete(definition), by);
      return find(name, { tenant });
    },
    get: (name, owner = {}) => find(name, owner),
    list: () => readAlarms(db),
    async remove(name, owner = {}) {
      const { tenant, by, on } = own(name, owner);
      if (!(await removeAlarm(on, tenant, name, by))) throw notFound(name, tenant);
    },
    pause: (name, owner = {}) => setPaused(name, owner, true),
    resume: (name, owner = {}) => setPaused(name, owner, false),
    async counts(name, { since, ...owner } = {}) {
      const { tenant } = await find(name, owner);
      return readCounts(own(name, owner).on, tenant, name, since ?? new Date(db.settings.clock.now() - day));
    },
  };
}

const complete = ({ filter, moreThan = 0, share, withinMs = 10 * minute, clearAfterMs = minute }: AlarmDefinition) => ({
  filter,
  moreThan,
  share: share ?? null,
  withinMs,
  clearAfterMs,
});

const notFound = (name: string, tenant: string): LanefoldError =>
  new LanefoldError('alarm_not_found', `Alarm ${name} of tenant ${tenant} does not exist.`, {
    hint: 'List the alarms with `lanefold alarms`.',
  });

import { assertId, defaultTenant } from '../../../base/checks/ids.ts';
import { assertWhole } from '../../../base/checks/whole-number.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { readMonitor as readDefinition } from '../definition/read-definition.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readMonitor, readMonitors, removeMonitor, setMonitor } from '../store/monitors.ts';
import { listScores } from '../store/run-scores.ts';
import { otherTenant } from '../../../runs/operations/access/tenant-scope.ts';
import type { ListedMonitor, MonitorOwner, Monitors } from './types.ts';

const operator = 'operator';
const what = 'The name of the monitor';

/**
 * @param scopeTo the same connections for a tenant
 * @param queuePrefix the private queue whose worker scores; null: any worker of a shared queue
 */
export function monitorsOf(db: Database, scopeTo: (tenant: string) => Database, queuePrefix: string | null): Monitors {
  const own = ({ tenant = db.tenant ?? defaultTenant }: MonitorOwner) => {
    assertId(tenant, 'The tenant id');
    if (db.tenant !== undefined && tenant !== db.tenant) throw otherTenant(tenant, db.tenant);
    return { tenant, on: db.tenant === undefined ? scopeTo(tenant) : db };
  };
  const find = async (name: string, owner: MonitorOwner): Promise<ListedMonitor> => {
    assertId(name, what);
    const { tenant, on } = own(owner);
    const found = await readMonitor(on, tenant, name);
    if (!found) throw notFound(name, tenant);
    return found;
  };
  return {
    async set(name, definition, owner = {}) {
      assertId(name, what);
      const { tenant, on } = own(owner);
      const monitor = readDefinition(definition);
      await setMonitor(on, tenant, name, { ...monitor, queue_prefix: queuePrefix, by: owner.by ?? operator });
      return find(name, { tenant });
    },
    get: (name, owner = {}) => find(name, owner),
    list: () => readMonitors(db),
    async remove(name, owner = {}) {
      assertId(name, what);
      const { tenant, on } = own(owner);
      if (!(await removeMonitor(on, tenant, name, owner.by ?? operator))) throw notFound(name, tenant);
    },
    async scores(name, { after, limit = 50, below, ...owner } = {}) {
      assertWhole(limit, 'limit', { minimum: 1, maximum: 1_000, hint: 'Pass the number of scores.' });
      if (below !== undefined && !(typeof below === 'number' && below >= 0 && below <= 1)) throw invalidBelow();
      const { tenant } = await find(name, owner);
      return listScores(own(owner).on, tenant, name, { after, limit, below });
    },
  };
}

const invalidBelow = (): LanefoldError =>
  new LanefoldError('invalid_input', 'below must be a number from 0 to 1.', { hint: 'Omit it for all scores.' });

const notFound = (name: string, tenant: string): LanefoldError =>
  new LanefoldError('monitor_not_found', `Monitor ${name} of tenant ${tenant} does not exist.`, {
    hint: 'List the monitors with `lanefold monitors`.',
  });

import { assertId } from '../../../base/checks/ids.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { readMonitor as readDefinition } from '../definition/read-definition.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readMonitor, readMonitors, removeMonitor, setMonitor } from '../store/monitors.ts';
import { listScores } from '../store/run-scores.ts';
import { ownersOn, type Owner } from '../../../runs/operations/access/tenant-scope.ts';
import type { ListedMonitor, Monitors } from '../types.ts';

const what = 'The name of the monitor';

/**
 * @param scopeTo the same connections for a tenant
 * @param queuePrefix the private queue whose worker scores; null: any worker of a shared queue
 */
export function monitorsOf(db: Database, scopeTo: (tenant: string) => Database, queuePrefix: string | null): Monitors {
  const own = ownersOn(db, scopeTo);
  const find = async (name: string, owner: Owner): Promise<ListedMonitor> => {
    assertId(name, what);
    const { tenant, on } = own(owner);
    const found = await readMonitor(on, tenant, name);
    if (!found) throw notFound(name, tenant);
    return found;
  };
  return {
    async set(name, definition, owner = {}) {
      assertId(name, what);
      const { tenant, by, on } = own(owner);
      const monitor = readDefinition(definition);
      await setMonitor(on, tenant, name, { ...monitor, queue_prefix: queuePrefix, by });
      return find(name, { tenant });
    },
    get: (name, owner = {}) => find(name, owner),
    list: () => readMonitors(db),
    async remove(name, owner = {}) {
      assertId(name, what);
      const { tenant, by, on } = own(owner);
      if (!(await removeMonitor(on, tenant, name, by))) throw notFound(name, tenant);
    },
    async scores(name, { after, limit = 50, below, ...owner } = {}) {
      const { tenant } = await find(name, owner);
      return listScores(own(owner).on, tenant, name, { after, limit, below });
    },
  };
}

const notFound = (name: string, tenant: string): LanefoldError =>
  new LanefoldError('monitor_not_found', `Monitor ${name} of tenant ${tenant} does not exist.`, {
    hint: 'List the monitors with `lanefold monitors`.',
  });

import type { Library, TenantLibrary } from '../features/library/library.ts';
import { checked } from '../base/operations/checked.ts';
import { listWorkers } from '../database/store/worker/list-workers.ts';
import { oldestDueSeconds } from '../features/webhooks/store/due-deliveries.ts';
import { tenantsOf } from '../runs/operations/access/tenants.ts';
import { agentsOf } from '../runs/operations/agents/agents.ts';
import { activity } from '../runs/operations/fleet/activity.ts';
import { checkHealth, readStats } from '../runs/operations/fleet/health.ts';
import { library, tenants, workers } from '../runs/operations/fleet/declaration.ts';
import type { Connections } from './connect.ts';
import type { LanefoldSettings } from './settings.ts';

/** The part of a library that concerns the process and its fleet. */
export const processLibrary = (
  { agents, counting, log, redactor }: LanefoldSettings,
  { db, databaseUrl, queue }: Connections,
  refreshRollouts: () => void,
): Omit<Library, keyof TenantLibrary | 'forTenant' | 'work'> => ({
  tenants: checked(tenants, tenantsOf(db)),
  agents: agentsOf(db, agents, counting, refreshRollouts),
  workers: checked(workers, { list: ({ hours = 1 } = {}) => listWorkers(db, hours) } satisfies Library['workers']),
  ...checked(library, {
    activity: (period = {}) => activity(db, counting, period),
    stats: () => readStats(db, queue, oldestDueSeconds),
    health: (options) => checkHealth(db, queue, options),
  } satisfies Pick<Library, 'activity' | 'stats' | 'health'>),
  log,
  redact: (value) => redactor.value(value),
  databaseUrl,
  queueBackend: queue.backend,
  queues: queue.queues,
  toolNames: agents.toolNames,
});

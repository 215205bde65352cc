import type { Library, TenantLibrary } from '../features/library/library.ts';
import { refusingOptions } from '../features/library/refusing-options.ts';
import { oldestDueSeconds } from '../features/webhooks/store/due-deliveries.ts';
import { tenantsOf } from '../runs/operations/access/tenants.ts';
import { agentsOf } from '../runs/operations/agents/agents.ts';
import { activity } from '../runs/operations/fleet/activity.ts';
import { checkHealth, readStats } from '../runs/operations/fleet/health.ts';
import { workersOf } from '../runs/operations/fleet/workers.ts';
import type { Connections } from './connect.ts';
import type { LanefoldSettings } from './settings.ts';

/** The part of a library that concerns the process and its fleet. */
export const processLibrary = (
  { agents, counting, log, redactor }: LanefoldSettings,
  { db, databaseUrl, queue }: Connections,
  refreshRollouts: () => void,
): Omit<Library, keyof TenantLibrary | 'forTenant'> => ({
  tenants: refusingOptions('tenants', tenantsOf(db)),
  agents: agentsOf(db, agents, counting, refreshRollouts),
  workers: refusingOptions('workers', workersOf(db)),
  stats: () => readStats(db, queue, oldestDueSeconds),
  ...refusingOptions('library', {
    health: (options: { queueTimeoutMs?: number } = {}) => checkHealth(db, queue, options),
    activity: ({ hours = 24 }: { hours?: number } = {}) => activity(db, counting, hours),
  }),
  log,
  redact: (value) => redactor.value(value),
  databaseUrl,
  queueBackend: queue.backend,
  queues: queue.queues,
  toolNames: agents.toolNames,
});

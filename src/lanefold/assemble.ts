import { defaultTenant } from '../base/checks/ids.ts';
import { WeakValues } from '../base/common/caches.ts';
import { reportErrors } from '../base/log/logger.ts';
import { QuietWaits, findUnattendedIn } from '../runs/fleet/unattended.ts';
import { enforcesTenants, otherTenant, tenantScope } from '../runs/operations/access/tenant-scope.ts';
import { VersionChooser } from '../runs/operations/agents/version-chooser.ts';
import type { Library, TenantLibrary } from '../features/library/library.ts';
import type { DirectWorker } from '../runs/operations/runs/enqueue-request.ts';
import { RunWaiter } from '../runs/operations/runs/waiter.ts';
import { erase } from '../runs/operations/threads/erase.ts';
import type { Database } from '../database/postgres/pool.ts';
import { Admission } from '../runs/limiter/admission.ts';
import type { LimitGate } from '../runs/limiter/gate.ts';
import { openStreams } from '../runs/streams/open.ts';
import type { Closers } from './closers.ts';
import type { Connections } from './connect.ts';
import { featuresOf } from './features.ts';
import { processLibrary } from './process-library.ts';
import type { LanefoldSettings } from './settings.ts';
import { tenantLibrary, type LibraryHost } from './tenant-library.ts';

/**
 * Builds the library on its connections: for all rows that the connection's role may see, and for each tenant on
 * demand.
 */
export function assemble(
  settings: LanefoldSettings,
  connections: Connections,
  closers: Closers,
  { directWorkers, gate }: { directWorkers: Iterable<DirectWorker>; gate: LimitGate },
) {
  const { agents, counting, log, models, secrets, telemetry, tenant: onlyTenant } = settings;
  const { db, queue, queueOptions, rights } = connections;
  const quietOn = (some: Database) => new QuietWaits(findUnattendedIn(some, db), settings.unattendedMs);
  const admission = new Admission(queue, gate, counting, reportErrors(log, 'limits'));
  const rollouts = new VersionChooser(db, reportErrors(log, 'rollouts'));
  const streams = openStreams(db, queueOptions, quietOn);
  closers.add(() => streams.close());
  const waiters = new WeakValues<symbol, RunWaiter>();
  closers.add(() => {
    for (const waiter of waiters) waiter.close();
  });
  const waiterOn = (db: Database) => waiters.set(Symbol(), new RunWaiter(db, quietOn(db)));

  /** Without enforced tenants there is only the default one, which a connection without a tenant writes to. */
  const scopeTo = (tenant: string): Database =>
    tenant === defaultTenant && !enforcesTenants(rights) ? db : db.forTenant(tenantScope(tenant, rights));
  const features = featuresOf(settings);
  const keepers = features.flatMap(({ keeper }) => keeper ?? []);
  const host: LibraryHost = {
    agents,
    all: db,
    features,
    keepers,
    log,
    queue,
    secrets,
    ownTenant: onlyTenant ?? defaultTenant,
    privatePrefix: settings.privateQueue ? queue.prefix : null,
    scopeTo,
    acceptingOn(db) {
      const { activeTraceparent } = telemetry ?? {};
      return { db, queue, agents, models, counting, activeTraceparent, directWorkers, admission, rollouts };
    },
    // a worker serves all tenants, also in a library of one
    runsFor: (tenant) => (scopeTo(tenant) === db ? library : libraryFor(tenant)).runs,
    eraseThread: (tenant, threadId) => erase({ db: scopeTo(tenant), queue, keepers }, threadId),
    deliveryNotices: connections.deliveryNotices,
    refreshLimits: () => gate.refresh().catch(reportErrors(log, 'limits')),
  };

  const tenants = new WeakValues<string, TenantLibrary>();
  const libraryFor = (tenant: string): TenantLibrary => {
    const known = tenants.get(tenant);
    if (known) return known;
    const scoped = db.forTenant(tenantScope(tenant, rights));
    return tenants.set(tenant, tenantLibrary(host, scoped, streams.forTenant(scoped), waiterOn(scoped)));
  };
  const forTenant = (tenant: string): TenantLibrary => {
    if (onlyTenant !== undefined && tenant !== onlyTenant) throw otherTenant(tenant, onlyTenant);
    return libraryFor(tenant);
  };
  const waiter = waiterOn(db);
  const library: Omit<Library, 'work'> = {
    ...(onlyTenant === undefined ? tenantLibrary(host, db, streams, waiter) : forTenant(onlyTenant)),
    forTenant,
    ...processLibrary(settings, connections, () => rollouts.refresh()),
  };
  return { library, host, waiter, live: streams.live };
}

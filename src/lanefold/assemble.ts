import { WeakValues } from '../base/common/weak-values.ts';
import { QuietWaits } from '../runs/fleet/quiet-waits.ts';
import { findUnattendedIn } from '../runs/fleet/unattended.ts';
import { noteAuditing } from '../features/library/auditing.ts';
import { auditOf, keysOf } from '../runs/operations/access/keys.ts';
import { enforcesTenants, otherTenant, tenantScope } from '../runs/operations/access/tenant-scope.ts';
import { tenantsOf } from '../runs/operations/access/tenants.ts';
import { compact } from '../runs/operations/contexts/compact.ts';
import { contextsOf } from '../runs/operations/contexts/contexts.ts';
import { noteDatabase } from '../features/library/database-of.ts';
import { casesOf } from '../features/evals/operations/cases.ts';
import { evalsOf } from '../features/evals/operations/evals.ts';
import { evidenceOf } from '../runs/operations/evidence/evidence.ts';
import { activity } from '../runs/operations/fleet/activity.ts';
import { listAgents } from '../runs/operations/agents/agents.ts';
import { rolloutsOf } from '../runs/operations/agents/rollouts.ts';
import { VersionChooser } from '../runs/operations/agents/version-chooser.ts';
import { versionsOf } from '../runs/operations/agents/versions.ts';
import { checkHealth, readStats } from '../runs/operations/fleet/health.ts';
import { workersOf } from '../runs/operations/fleet/workers.ts';
import { refusingOptions } from '../features/library/refusing-options.ts';
import type { Library, TenantLibrary } from '../features/library/library.ts';
import { limitsOf } from '../runs/operations/limits/limits.ts';
import { schedulesOf } from '../features/schedules/operations/schedules.ts';
import { monitorsOf } from '../features/monitors/operations/monitors.ts';
import { oldestDueSeconds } from '../features/webhooks/store/oldest-due.ts';
import { webhooksOf } from '../features/webhooks/operations/webhooks.ts';
import { checkRuns } from '../features/schedules/operations/check-runs.ts';
import { syncSchedules } from '../features/schedules/operations/sync.ts';
import type { ScheduleDefinition } from '../features/schedules/definition/definition.ts';
import { defaultTenant } from '../base/checks/ids.ts';
import type { DirectWorker } from '../runs/operations/runs/direct-start.ts';
import { runsOf } from '../runs/operations/runs/runs-of.ts';
import { startChild } from '../runs/operations/runs/start-child.ts';
import { RunWaiter } from '../runs/operations/runs/waiter.ts';
import { eventsOf } from '../runs/operations/waits/events.ts';
import { waitsOf } from '../runs/operations/waits/waits.ts';
import { eraseCases } from '../features/evals/store/cases.ts';
import { eraseEvals } from '../features/evals/store/threads.ts';
import { eraseSchedules } from '../features/schedules/store/schedules.ts';
import { eraseWebhooks } from '../features/webhooks/store/webhooks.ts';
import { erase, type Keeper } from '../runs/operations/threads/erase.ts';
import { threadsOf } from '../runs/operations/threads/threads.ts';
import { reportErrors } from '../base/log/report-errors.ts';
import type { Database } from '../database/postgres/pool.ts';
import { Admission } from '../runs/limiter/admission.ts';
import type { LimitGate } from '../runs/limiter/gate.ts';
import { withAudit } from '../database/store/access/audited-act.ts';
import { listApprovals } from '../database/store/wait/list-approvals.ts';
import type { RunRef } from '../database/store/run/run.ts';
import type { StoredChild } from '../database/store/wait/wait-tasks.ts';
import { openStreams } from '../runs/streams/open.ts';
import type { Closers } from './closers.ts';
import type { Connections } from './connect.ts';
import type { LanefoldSettings } from './settings.ts';

/** Evals include monitors. */
const keepers: readonly Keeper[] = [
  { eraseTenant: eraseSchedules },
  { eraseTenant: eraseEvals, eraseThread: eraseCases },
  { eraseTenant: eraseWebhooks },
];

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
  const { agents, counting, log, models, redactor, secrets, telemetry, tenant: onlyTenant } = settings;
  const { db, databaseUrl, queue, queueOptions, rights } = connections;
  const all = db;
  const privatePrefix = settings.privateQueue ? queue.prefix : null;
  const findUnattended = (some: Database) => findUnattendedIn(some, all);
  const quietOn = (some: Database) => new QuietWaits(findUnattended(some), settings.unattendedMs);
  const admission = new Admission(queue, gate, counting, reportErrors(log, 'limits'));
  const rollouts = new VersionChooser(db, reportErrors(log, 'rollouts'));
  const streams = openStreams(db, queueOptions, quietOn);
  closers.add(() => streams.close());
  const waiters = new WeakValues<symbol, RunWaiter>();
  closers.add(() => {
    for (const waiter of waiters) waiter.close();
  });

  /** Without enforced tenants there is only the default one, which a connection without a tenant writes to. */
  const scopeTo = (tenant: string): Database =>
    tenant === defaultTenant && !enforcesTenants(rights) ? db : db.forTenant(tenantScope(tenant, rights));
  const acceptingOn = (db: Database) => {
    const { activeTraceparent } = telemetry ?? {};
    return { db, queue, agents, models, counting, activeTraceparent, directWorkers, admission, rollouts };
  };
  const libraryOn = (db: Database, streams: TenantLibrary['streams'], waiter: RunWaiter): TenantLibrary => {
    const accepting = acceptingOn(db);
    const runs = runsOf({
      ...{ ...accepting, waiter, streams, log },
      ...{ tokenSecrets: secrets, findUnattended: findUnattended(db) },
    });
    const contexts = contextsOf({
      ...{ db, agents, models, counting },
      compact: async (threadId, given = {}, { caller, from = 'library' } = {}) =>
        compact(accepting, threadId, given, { caller, from }),
    });
    const threads = refusingOptions('threads', threadsOf({ db, queue, keepers, agents, counting, streams }));
    noteDatabase(threads, db);
    noteAuditing(threads, (acts) => libraryOn(withAudit(db, acts), streams, waiter));
    return {
      threads,
      runs: refusingOptions('runs', runs),
      contexts: refusingOptions('contexts', contexts),
      keys: refusingOptions('keys', keysOf(db, secrets)),
      limits: refusingOptions(
        'limits',
        limitsOf(db, () => gate.refresh().catch(reportErrors(log, 'limits'))),
      ),
      schedules: refusingOptions(
        'schedules',
        schedulesOf(db, scopeTo, (on, schedule, from) => checkRuns(acceptingOn(on), schedule, from)),
      ),
      events: refusingOptions('events', eventsOf({ db, all, queue, secrets, scopeTo })),
      waits: refusingOptions('waits', waitsOf(db, queue)),
      webhooks: refusingOptions('webhooks', webhooksOf(db, scopeTo, settings.privateWebhooks)),
      evals: refusingOptions(
        'evals',
        evalsOf({
          ...{ db, all, queuePrefix: privatePrefix },
          acceptingFor: (tenant) => acceptingOn(db.tenant === undefined ? scopeTo(tenant) : db),
          cancelRun: (run) => runs.cancel(run, 'eval_cancelled'),
        }),
      ),
      monitors: refusingOptions('monitors', monitorsOf(db, scopeTo, privatePrefix)),
      cases: refusingOptions('cases', casesOf({ db, agents })),
      audit: refusingOptions('audit', auditOf(db)),
      evidence: evidenceOf(db),
      approvals: refusingOptions('approvals', {
        list: ({ after, limit = 50 }: { after?: string; limit?: number } = {}) => listApprovals(db, { after, limit }),
      }),
      streams,
      tenant: db.tenant,
    };
  };
  const waiterOn = (db: Database) => waiters.set(Symbol(), new RunWaiter(db, quietOn(db)));

  const tenants = new WeakValues<string, TenantLibrary>();
  const libraryFor = (tenant: string): TenantLibrary => {
    const known = tenants.get(tenant);
    if (known) return known;
    const scoped = db.forTenant(tenantScope(tenant, rights));
    return tenants.set(tenant, libraryOn(scoped, streams.forTenant(scoped), waiterOn(scoped)));
  };
  const forTenant = (tenant: string): TenantLibrary => {
    if (onlyTenant !== undefined && tenant !== onlyTenant) throw otherTenant(tenant, onlyTenant);
    return libraryFor(tenant);
  };
  const waiter = waiterOn(db);
  const library: Library = {
    ...(onlyTenant === undefined ? libraryOn(db, streams, waiter) : forTenant(onlyTenant)),
    forTenant,
    tenants: refusingOptions('tenants', tenantsOf(db)),
    agents: {
      list: () => listAgents(agents),
      ...refusingOptions('agents', {
        ...versionsOf(db, counting),
        ...rolloutsOf(db, agents, () => rollouts.refresh()),
      }),
    },
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
  };
  // a worker serves all tenants, also in a library of one
  const runsFor = (tenant: string) => (scopeTo(tenant) === db ? library : libraryFor(tenant)).runs;
  const defineSchedules = (defined: Readonly<Record<string, ScheduleDefinition>>) =>
    syncSchedules(acceptingOn(scopeTo(onlyTenant ?? defaultTenant)), defined);
  const startChildFor = (tenant: string, child: RunRef, request: StoredChild) =>
    startChild(acceptingOn(scopeTo(tenant)), child, request);
  const evalRequests = {
    acceptingFor: (tenant: string) => acceptingOn(scopeTo(tenant)),
    cancel: (tenant: string, run: RunRef) => runsFor(tenant).cancel(run, 'eval_erased'),
    erase: (tenant: string, threadId: string) => erase({ db: scopeTo(tenant), queue, keepers }, threadId),
  };
  return { library, waiter, live: streams.live, runsFor, startChildFor, defineSchedules, evalRequests };
}

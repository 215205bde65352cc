import { WeakValues } from '../common/weak-values.ts';
import { QuietWaits } from '../fleet/quiet-waits.ts';
import { findUnattendedIn } from '../fleet/unattended.ts';
import { noteAuditing } from '../library/access/auditing.ts';
import { auditOf, keysOf } from '../library/access/keys.ts';
import { enforcesTenants, otherTenant, tenantScope } from '../library/access/tenant-scope.ts';
import { tenantsOf } from '../library/access/tenants.ts';
import { compact } from '../library/contexts/compact.ts';
import { contextsOf } from '../library/contexts/contexts.ts';
import { noteDatabase } from '../library/database-of.ts';
import { casesOf } from '../library/evals/cases.ts';
import { evalsOf } from '../library/evals/evals.ts';
import { evidenceOf } from '../library/evidence/evidence.ts';
import { activity } from '../library/fleet/activity.ts';
import { listAgents } from '../library/agents/agents.ts';
import { rolloutsOf } from '../library/agents/rollouts.ts';
import { VersionChooser } from '../library/agents/version-chooser.ts';
import { versionsOf } from '../library/agents/versions.ts';
import { checkHealth, readStats } from '../library/fleet/health.ts';
import { workersOf } from '../library/fleet/workers.ts';
import { refusingOptions } from '../library/refusing-options.ts';
import type { Library, TenantLibrary } from '../library/library.ts';
import { limitsOf } from '../library/limits/limits.ts';
import { schedulesOf } from '../library/schedules/schedules.ts';
import { monitorsOf } from '../library/monitors/monitors.ts';
import { webhooksOf } from '../library/webhooks/webhooks.ts';
import { checkRuns } from '../library/schedules/check-runs.ts';
import { syncSchedules } from '../library/schedules/sync.ts';
import type { ScheduleDefinition } from '../schedules/definition.ts';
import { defaultTenant } from '../checks/ids.ts';
import type { DirectWorker } from '../library/runs/direct-start.ts';
import { runsOf } from '../library/runs/runs-of.ts';
import { startChild } from '../library/runs/start-child.ts';
import { RunWaiter } from '../library/runs/waiter.ts';
import { eventsOf } from '../library/waits/events.ts';
import { waitsOf } from '../library/waits/waits.ts';
import { erase } from '../library/threads/erase.ts';
import { threadsOf } from '../library/threads/threads.ts';
import { reportErrors } from '../log/report-errors.ts';
import type { Database } from '../postgres/pool.ts';
import { Admission } from '../runtime/limits/admission.ts';
import type { LimitGate } from '../runtime/limits/gate.ts';
import { withAudit } from '../store/access/audited-act.ts';
import { listApprovals } from '../store/wait/list-approvals.ts';
import type { RunRef } from '../store/run/run.ts';
import type { StoredChild } from '../store/wait/wait-tasks.ts';
import { openStreams } from '../streams/open.ts';
import type { Closers } from './closers.ts';
import type { Connections } from './connect.ts';
import type { LanefoldSettings } from './settings.ts';

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
    const threads = refusingOptions('threads', threadsOf(db, agents, counting, streams, queue));
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
    stats: () => readStats(db, queue),
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
    erase: (tenant: string, threadId: string) => erase(scopeTo(tenant), queue, threadId),
  };
  return { library, waiter, live: streams.live, runsFor, startChildFor, defineSchedules, evalRequests };
}

import {
  largeContentBytes,
  maxContextBytes,
  preparedStatements,
  queueShards,
  stopGrace,
  telemetryWanted,
} from './environment.ts';
import { createAgentRegistry } from './agents/registry.ts';
import type { AgentDefinition } from './agents/agent.ts';
import { readPolicy } from './policy/read-policy.ts';
import { createCounting } from './models/counting/counting.ts';
import { createModelRegistry } from './models/registry/registry.ts';
import { findEmbeddedPostgres, startEmbeddedPostgres, type EmbeddedPostgres } from './postgres/embedded/index.ts';
import { openDatabase, type Database, type DatabaseOptions } from './postgres/pool.ts';
import { listApprovals } from './store/approval/list-approvals.ts';
import { activity } from './library/activity.ts';
import { assertSchema, isDistributed } from './store/schema/version.ts';
import { fromPostgres, lanefoldClosed } from './postgres/errors.ts';
import { createKeyRedactor } from './redaction/sensitive-keys.ts';
import { openLogger } from './log/open.ts';
import { openQueue } from './queue/queue.ts';
import { openStreams } from './streams/open.ts';
import { RunWaiter } from './library/waiter.ts';
import { startServer } from './api/start.ts';
import type { RunningServer, ServerOptions } from './api/options.ts';
import type { RunningWorker, WorkerOptions } from './runtime/worker/options.ts';
import type { Library, TenantLibrary } from './library/library.ts';
import { otherTenant, scopeOf } from './library/tenant.ts';
import { checkRole, checkWorkerRole, roleCheckOf } from './library/role-check.ts';
import { WeakValues } from './weak-values.ts';
import { readContent } from './store/content/read-content.ts';
import { readContentTool } from './tools/read-content.ts';
import { readSessionRights } from './store/role/session-rights.ts';
import { auditOf, keysOf } from './library/keys.ts';
import { listAgents } from './library/agents.ts';
import { evidenceOf } from './library/evidence.ts';
import { tenantsOf } from './library/tenants.ts';
import { compact } from './library/compact.ts';
import { contextsOf } from './library/contexts.ts';
import { checkHealth, readStats } from './library/health.ts';
import { runsOf } from './library/runs.ts';
import { checkDatabaseUrl, checkRedisUrl } from './connection-url.ts';
import { refuseUnknownKeys } from './unknown-keys.ts';
import { tokenSecrets } from './tokens/secrets.ts';
import { endAbandonedRuns } from './library/end-abandoned-runs.ts';
import { holdFleet } from './store/run/private-fleets.ts';
import { threadsOf } from './library/threads.ts';
import { optionKeys, type LanefoldOptions } from './lanefold-options.ts';

export interface Lanefold<AGENTS extends AgentDefinition = AgentDefinition> extends Library<AGENTS> {
  /** Starts a worker that processes runs in this process. @throws LanefoldError `queue_unreachable`, `role_unfit` */
  startWorker(options?: WorkerOptions): Promise<RunningWorker>;
  /** Serves the HTTP API, Bull Board and the API reference in this process. @throws LanefoldError see `startServer` */
  startServer(options?: ServerOptions): Promise<RunningServer>;
  /** Stops the servers and workers started here, then closes every connection. */
  close(): Promise<void>;
}

/** Connects to the database and the queue. See `createLanefold`. */
export async function openLanefold(options: LanefoldOptions = {}): Promise<Lanefold> {
  refuseUnknownKeys('createLanefold', options, optionKeys);
  const contentLimit = largeContentBytes(options.largeContentBytes);
  // opened later than the agents, whose tool reads from it
  let database: Database | undefined;
  const readLarge =
    contentLimit === undefined
      ? []
      : [readContentTool(contentLimit, (threadId, id, range) => readContent(database!, threadId, id, range))];
  const agents = await createAgentRegistry(options.agents ?? [], {
    ...options,
    always: readLarge,
    maxToolResultBytes: contentLimit === undefined ? undefined : 2 ** 24,
  });
  const redactor = createKeyRedactor(options.redactKeys);
  const log = await openLogger(redactor, options.logger);
  const { telemetry: wanted = telemetryWanted() } = options;
  // Imported on demand, so that a process without telemetry does not load it.
  const telemetry = wanted
    ? await (await import('./telemetry/opentelemetry/open.ts')).openTelemetry(wanted === true ? {} : wanted, redactor)
    : undefined;
  const models = createModelRegistry({
    ...(options.models ? { models: options.models } : {}),
    ...(options.aliases ? { aliases: options.aliases } : {}),
    ...(options.scriptedModels ? { scriptedModels: true } : {}),
  });
  const counting = createCounting(options, models.target);
  for (const { contextPolicy } of options.agents ?? []) {
    if (contextPolicy !== undefined) counting.check(readPolicy(contextPolicy));
  }
  const roleCheck = roleCheckOf(options.roleCheck);
  // Compose files turn an unset variable into an empty one.
  const given = options.databaseUrl || process.env['DATABASE_URL'] || undefined;
  if (given) checkDatabaseUrl(given, options.databaseUrl ? 'databaseUrl' : 'DATABASE_URL');
  const givenDirect = options.directUrl || process.env['LANEFOLD_DIRECT_URL'] || undefined;
  if (givenDirect) checkDatabaseUrl(givenDirect, options.directUrl ? 'directUrl' : 'LANEFOLD_DIRECT_URL');
  const redisUrl = options.redisUrl === null ? undefined : (options.redisUrl ?? process.env['REDIS_URL'] ?? undefined);
  if (redisUrl) checkRedisUrl(redisUrl, options.redisUrl ? 'redisUrl' : 'REDIS_URL');
  const dir = options.embeddedDir ?? '.lanefold';
  let embedded: EmbeddedPostgres | undefined;
  let databaseUrl = given ?? (await findEmbeddedPostgres(dir))?.url;
  if (!databaseUrl) {
    embedded = await startEmbeddedPostgres({ dir });
    databaseUrl = embedded.url;
  }
  const directUrl = givenDirect ?? databaseUrl;
  const closers: (() => Promise<unknown>)[] = [async () => embedded?.stop()];
  let closed = false;
  const close = async () => {
    closed = true;
    await embedded?.retire().catch(() => {});
    let fault: unknown;
    for (const closer of closers.splice(0).reverse()) await closer().catch((error: unknown) => (fault ??= error));
    if (fault !== undefined) throw fault;
  };

  /** Registers what is starting, so that a `close` during the start waits for it and then stops it. */
  const stopOnClose = async <T>(start: () => Promise<T>, stop: (started: T) => Promise<unknown>): Promise<T> => {
    if (closed) throw lanefoldClosed();
    const starting = start();
    closers.push(() => starting.then(stop, () => {}));
    return starting;
  };

  try {
    if (options.migrate ?? !given) {
      const { migrate } = await import('./store/schema/migrate.ts');
      await migrate(directUrl, { queueTables: !redisUrl });
    }
    const prepare = options.preparedStatements ?? preparedStatements();
    const connect = (more: Omit<DatabaseOptions, 'url' | 'prepare'>) =>
      openDatabase({ url: databaseUrl, prepare, ...more });
    const db = connect({ max: options.poolSize ?? 10 });
    database = db;
    closers.push(() => db.close());
    await assertSchema(db.pool).catch((error: unknown) => {
      throw fromPostgres(error);
    });
    db.settings.maxContextBytes = maxContextBytes(options.maxContextBytes);
    db.settings.largeContentBytes = contentLimit;
    db.settings.distributed = await isDistributed(db.pool);
    const rights = await readSessionRights(db.pool);
    // the embedded server has one role, its superuser
    checkRole(rights, given === undefined && roleCheck === 'refuse' ? 'warn' : roleCheck);
    const queueOptions = {
      redisUrl,
      databaseUrl: directUrl,
      prefix: options.queuePrefix ?? 'lf',
      shards: queueShards(options.queueShards),
    };
    const queue = openQueue(queueOptions);
    closers.push(() => queue.close());
    await queue.ready();
    if (options.privateQueue) {
      closers.push(() => queue.obliterate().catch(() => {}));
      const fleet = await holdFleet(directUrl, queue.prefix);
      closers.push(() => fleet.release());
    }
    await endAbandonedRuns(db, queue, directUrl, queueOptions);
    const streams = openStreams(db, queueOptions);
    closers.push(() => streams.close());
    const secrets = tokenSecrets(options.tokenSecrets);
    const waiters = new WeakValues<symbol, RunWaiter>();
    closers.push(async () => {
      for (const waiter of waiters) waiter.close();
    });
    const libraryOn = (db: Database, streams: TenantLibrary['streams']): TenantLibrary & { waiter: RunWaiter } => {
      const waiter = waiters.set(Symbol(), new RunWaiter(db));
      const accepting = { db, queue, agents, models, counting, activeTraceparent: telemetry?.activeTraceparent };
      const runs = runsOf({ ...accepting, waiter, streams, tokenSecrets: secrets });
      return {
        threads: threadsOf(db, agents, counting, streams, queue),
        runs,
        contexts: contextsOf({
          ...{ db, agents, models, counting },
          compact: async (threadId, given = {}, { caller, from = 'library' } = {}) =>
            compact(accepting, threadId, given, { caller, from }),
        }),
        keys: keysOf(db, secrets),
        audit: auditOf(db),
        evidence: evidenceOf(db),
        approvals: { list: ({ after, limit = 50 } = {}) => listApprovals(db, { after, limit }) },
        streams,
        tenant: db.tenant,
        waiter,
      };
    };
    const tenants = new WeakValues<string, TenantLibrary>();
    const forTenant = (tenant: string): TenantLibrary => {
      if (options.tenant !== undefined && tenant !== options.tenant) throw otherTenant(tenant, options.tenant);
      const known = tenants.get(tenant);
      if (known) return known;
      const scoped = db.forTenant(scopeOf(tenant, rights));
      const { waiter: _, ...library } = libraryOn(scoped, streams.forTenant(scoped));
      return tenants.set(tenant, library);
    };
    const { waiter, ...everything } = libraryOn(db, streams);
    const lanefold: Lanefold = {
      ...(options.tenant === undefined ? everything : forTenant(options.tenant)),
      forTenant,
      tenants: tenantsOf(db),
      agents: { list: () => listAgents(agents) },
      health: () => checkHealth(db, queue),
      stats: () => readStats(db, queue),
      activity: ({ hours = 24 } = {}) => activity(db, counting, hours),
      log,
      redact: (value) => redactor.value(value),
      databaseUrl,
      queueBackend: queue.backend,
      queues: queue.queues,
      toolNames: agents.toolNames,
      startWorker: async (workerOptions = {}) => {
        checkWorkerRole(rights);
        return stopOnClose(
          // Imported on demand, so that a process without a worker does not load one.
          () =>
            import('./runtime/worker/worker.ts').then(({ startWorker }) =>
              startWorker(
                {
                  db,
                  connect,
                  agents,
                  models,
                  counting,
                  promptCaching: options.promptCaching ?? true,
                  directUrl,
                  redactor,
                  log,
                  telemetry,
                  live: streams.live,
                  privateQueue: options.privateQueue ?? false,
                  onHold: (run) => waiter.hold(run),
                  isAwaited: (run) => waiter.awaits(run),
                  onRelease: (run, ended) => waiter.release(run, ended),
                },
                queue,
                { ...stopGrace(), ...workerOptions },
              ),
            ),
          (worker) => worker.stop(),
        );
      },
      startServer: (serverOptions = {}) =>
        stopOnClose(
          () => startServer(lanefold, serverOptions),
          (server) => server.close(),
        ),
      close,
    };
    return lanefold;
  } catch (error) {
    await close();
    throw error;
  }
}

import { LanefoldError } from './errors.ts';
import { createAgentRegistry } from './agents/registry.ts';
import type { AgentDefinition } from './agents/agent.ts';
import type { RequestTransformer } from './agents/transformer.ts';
import type { ToolListing } from './tools/normalise.ts';
import { createModelRegistry, type ModelRegistryOptions } from './models/registry/registry.ts';
import { findEmbeddedPostgres, startEmbeddedPostgres, type EmbeddedPostgres } from './postgres/embedded/index.ts';
import { openDatabase } from './postgres/pool.ts';
import { assertSchema } from './store/schema/version.ts';
import { fromPostgres } from './postgres/errors.ts';
import { createKeyRedactor } from './redaction/keys.ts';
import { openQueue } from './queue/queue.ts';
import { openStreams } from './streams/open.ts';
import { RunWaiter } from './library/waiter.ts';
import { startServer } from './api/start.ts';
import type { RunningServer, ServerOptions } from './api/options.ts';
import type { RunningWorker, WorkerOptions } from './runtime/worker/options.ts';
import type { Client } from './library/library.ts';
import { contextsOf } from './library/contexts.ts';
import { checkHealth, readStats } from './library/health.ts';
import { runsOf } from './library/runs.ts';
import { tokenSecrets } from './tokens/secrets.ts';
import { threadsOf } from './library/threads.ts';

export interface LanefoldOptions {
  /** Default `DATABASE_URL`; without either the PostgreSQL of `embeddedDir` is used, which is started if it is not running. */
  databaseUrl?: string;
  /** For what needs a session: the queue on PostgreSQL and migrations. Default `LANEFOLD_DIRECT_URL`, else `databaseUrl`. */
  directUrl?: string;
  /** Default `REDIS_URL`; without either, or with null, the queue lives in PostgreSQL. */
  redisUrl?: string | null;
  agents?: readonly AgentDefinition[];
  /** Tools of no agent, which a thread may register by name: `threads.configure(id, { registerTools: [name] })`. */
  tools?: ToolListing;
  /** Transformers of model calls that agents and requests may choose by name. */
  requestTransformers?: Record<string, RequestTransformer>;
  /** Own AI SDK models by id or prefix, and aliases such as `fast`. */
  models?: ModelRegistryOptions['models'];
  aliases?: ModelRegistryOptions['aliases'];
  /** Default `.lanefold`. */
  embeddedDir?: string;
  /** Migrate before use; default only on the embedded PostgreSQL. */
  migrate?: boolean;
  /** Connections of this process to the database at most, besides the queue's; default 10. */
  poolSize?: number;
  /** Named prepared statements; default `LANEFOLD_PREPARED_STATEMENTS`, else true. False behind a PgBouncer before 1.21 in transaction mode. */
  preparedStatements?: boolean;
  /** Names of the queues begin with it; default `lf`. */
  queuePrefix?: string;
  /** The queue is of this process alone: `close` removes it. */
  privateQueue?: boolean;
  /** Default `LANEFOLD_QUEUE_SHARDS`, else 1; the same in every process. */
  queueShards?: number;
  /** Secrets of checkpoint tokens: the first signs, all verify. Default `LANEFOLD_TOKEN_SECRET`, separated by commas. */
  tokenSecrets?: readonly string[];
  /** Exact names of keys whose values traces, jobs and logs do not show, in any case; default `password`, `token` and the like. */
  redactKeys?: readonly string[];
}

export interface Lanefold extends Client {
  /** Works off runs in this process. @throws LanefoldError `queue_unreachable` */
  startWorker(options?: WorkerOptions): Promise<RunningWorker>;
  /** Serves the HTTP API, Bull Board and the API reference in this process. @throws LanefoldError see `startServer` */
  startServer(options?: ServerOptions): Promise<RunningServer>;
  /** Stops the servers and workers started here, then closes every connection. */
  close(): Promise<void>;
}

/**
 * Connects to the database and the queue.
 *
 * @throws LanefoldError `database_unreachable`, `database_outdated`, `database_too_new`, `queue_unreachable`,
 * `embedded_postgres_failed`, `invalid_agent`, `invalid_tool`
 *
 * @example
 * const lanefold = await createLanefold({ agents: [support] });
 * const worker = await lanefold.startWorker();
 * const run = await lanefold.runs.enqueue({ agent: 'support', input: 'Where is my order?' });
 * const { result } = await lanefold.runs.wait(run);
 */
export async function createLanefold(options: LanefoldOptions = {}): Promise<Lanefold> {
  const agents = await createAgentRegistry(options.agents ?? [], options);
  const redactor = createKeyRedactor(options.redactKeys);
  const models = createModelRegistry({
    ...(options.models ? { models: options.models } : {}),
    ...(options.aliases ? { aliases: options.aliases } : {}),
  });
  // an empty variable is what compose files make of an unset one
  const given = options.databaseUrl || process.env['DATABASE_URL'] || undefined;
  const dir = options.embeddedDir ?? '.lanefold';
  let embedded: EmbeddedPostgres | undefined;
  let databaseUrl = given ?? (await findEmbeddedPostgres(dir))?.url;
  if (!databaseUrl) {
    embedded = await startEmbeddedPostgres({ dir });
    databaseUrl = embedded.url;
  }
  const directUrl = options.directUrl || process.env['LANEFOLD_DIRECT_URL'] || databaseUrl;
  const redisUrl = options.redisUrl === null ? undefined : (options.redisUrl ?? process.env['REDIS_URL'] ?? undefined);
  const closers: (() => Promise<unknown>)[] = [async () => embedded?.stop()];
  const close = async () => {
    let fault: unknown;
    for (const closer of closers.splice(0).reverse()) await closer().catch((error: unknown) => (fault ??= error));
    if (fault !== undefined) throw fault;
  };

  /** Whoever closes everything while something starts waits for it. */
  const closing = <T>(starting: Promise<T>, stop: (started: T) => Promise<unknown>): Promise<T> => {
    closers.push(() => starting.then(stop, () => {}));
    return starting;
  };

  try {
    if (options.migrate ?? !given) {
      const { migrate } = await import('./store/schema/migrate.ts');
      await migrate(directUrl, { queueTables: !redisUrl });
    }
    const db = openDatabase({
      url: databaseUrl,
      max: options.poolSize ?? 10,
      prepare: options.preparedStatements ?? preparedStatements(),
    });
    closers.push(() => db.close());
    await assertSchema(db.pool).catch((error: unknown) => {
      throw fromPostgres(error);
    });
    const queueOptions = {
      redisUrl,
      databaseUrl: directUrl,
      prefix: options.queuePrefix ?? 'lf',
      shards: queueShards(options.queueShards ?? process.env['LANEFOLD_QUEUE_SHARDS']),
    };
    const queue = openQueue(queueOptions);
    closers.push(() => queue.close());
    await queue.ready();
    if (options.privateQueue) closers.push(() => queue.obliterate().catch(() => {}));
    const waiter = new RunWaiter(db);
    closers.push(async () => waiter.close());
    const streams = openStreams(db, queueOptions);
    closers.push(() => streams.close());

    const lanefold: Lanefold = {
      threads: threadsOf(db, agents, streams),
      runs: runsOf({ db, queue, agents, models, waiter, streams, tokenSecrets: tokenSecrets(options.tokenSecrets) }),
      contexts: contextsOf(db),
      health: () => checkHealth(db, queue),
      stats: () => readStats(db, queue),
      streams,
      databaseUrl,
      queueBackend: queue.backend,
      queues: queue.queues,
      toolNames: agents.toolNames,
      startWorker: (workerOptions = {}) =>
        closing(
          // loaded here, so that processes that only ask do not pay for it
          import('./runtime/worker/worker.ts').then(({ startWorker }) =>
            startWorker(
              {
                db,
                agents,
                models,
                directUrl,
                redactor,
                live: streams.live,
                privateQueue: options.privateQueue ?? false,
                onEnd: (run) => waiter.notice(run.threadId, run.runId),
              },
              queue,
              { ...stopGrace(), ...workerOptions },
            ),
          ),
          (worker) => worker.stop(),
        ),
      startServer: (serverOptions = {}) => closing(startServer(lanefold, serverOptions), (server) => server.close()),
      close,
    };
    return lanefold;
  } catch (error) {
    await close();
    throw error;
  }
}

function preparedStatements(): boolean {
  const given = process.env['LANEFOLD_PREPARED_STATEMENTS'] || 'on';
  if (['on', 'true', '1'].includes(given)) return true;
  if (['off', 'false', '0'].includes(given)) return false;
  throw new LanefoldError('invalid_input', `LANEFOLD_PREPARED_STATEMENTS is ${JSON.stringify(given)}.`, {
    hint: 'Set it to on or off, or leave it out.',
  });
}

function stopGrace(): WorkerOptions {
  const given = process.env['LANEFOLD_STOP_GRACE_MS'];
  if (!given) return {};
  if (/^\d+$/.test(given)) return { stopGraceMs: Number(given) };
  throw new LanefoldError('invalid_input', `LANEFOLD_STOP_GRACE_MS is ${JSON.stringify(given)}.`, {
    hint: 'Set it to milliseconds, such as 25000, or leave it out.',
  });
}

function queueShards(given: number | string | undefined): number {
  const shards = Number(given || 1);
  if (Number.isInteger(shards) && shards >= 1 && shards <= 1024) return shards;
  throw new LanefoldError('invalid_input', `The number of queue shards is ${JSON.stringify(given)}.`, {
    hint: 'Set LANEFOLD_QUEUE_SHARDS to a whole number from 1 to 1024, the same in every process.',
  });
}

import type { AgentDefinition } from '../agent/definition/definition.ts';
import type { TokenEstimator } from '../agent/policy/estimate.ts';
import type { PriceOf } from '../agent/models/catalog.ts';
import type { ContextProjector } from '../agent/policy/projector.ts';
import type { RequestTransformer } from '../agent/definition/transformer.ts';
import type { Strategy } from '../agent/strategies/registry.ts';
import type { ToolListing } from '../agent/tools/toolset.ts';
import type { ModelRegistryOptions } from '../agent/models/registry.ts';
import type { Logger } from '../base/log/logger.ts';
import type { TelemetryOptions } from '../runs/telemetry/opentelemetry/open.ts';
import type { RoleCheck } from '../runs/operations/access/role-check.ts';
import type { ScheduleDefinition } from '../features/schedules/types.ts';
import type { CircuitOptions } from '../features/circuits/rule.ts';
import type { Scorer } from '../features/evals/scorers/scorer.ts';
import type { KeysOf } from '../base/checks/unknown-keys.ts';

export interface LanefoldOptions<AGENTS extends AgentDefinition = AgentDefinition> {
  /**
   * PostgreSQL. Default `DATABASE_URL`, else the embedded PostgreSQL in `embeddedDir`, which is started if necessary.
   */
  databaseUrl?: string;
  /**
   * A connection that bypasses any pooler, for the queue on PostgreSQL and for migrations. Default
   * `LANEFOLD_DIRECT_URL`, else `databaseUrl`.
   */
  directUrl?: string;
  /**
   * A follower of the database, which may lag behind: lists of runs and threads, the audit, deliveries and statistics are
   * read from it, or from `databaseUrl` while it does not answer. It has the user of `databaseUrl`. Default
   * `LANEFOLD_READ_URL`; null: none.
   */
  readUrl?: string | null;
  /** Redis for the queue. Default `REDIS_URL`. Without either, or with null, the queue lives in PostgreSQL. */
  redisUrl?: string | null;
  /**
   * Threads and runs of this tenant alone; default: all that the connection's role may see. Workers serve all tenants.
   */
  tenant?: string;
  /**
   * The agents that this process enqueues or executes. `runs.enqueue` and `runs.wait` know their names and the types of
   * their results.
   */
  agents?: readonly AGENTS[];
  /**
   * Tools that belong to no agent; a thread registers them by name: `threads.configure(id, { registerTools: [name] })`.
   */
  tools?: ToolListing;
  /** Request transformers that agents and requests may select by name. */
  requestTransformers?: Record<string, RequestTransformer>;
  /**
   * Schedules that this program defines, by name. Each worker sets them when it starts. A paused schedule stays
   * paused. A schedule that is no longer here is removed if its agent is one of `agents`.
   */
  schedules?: Readonly<Record<string, ScheduleDefinition>>;
  /** Scorers of evals, besides the built-in ones; workers score with them. Define them with `defineScorer` of `lanefold/evals`. */
  scorers?: readonly Scorer[];
  /**
   * Webhooks may have `http:` URLs and go to private addresses. Only for development, or if everyone who may set
   * webhooks may also reach your internal network. Default `LANEFOLD_PRIVATE_WEBHOOKS`, else false.
   */
  privateWebhooks?: boolean;
  /**
   * When workers hold back the calls of a model whose provider fails, so that its runs wait instead of failing; false: never.
   * Should be the same in every process.
   */
  circuits?: CircuitOptions | false;
  /** Your own strategies, which requests may select by name; those of agents need not be repeated here. */
  strategies?: readonly Strategy[];
  /** Context windows in tokens by `provider:model`, or by provider; they take precedence over the built-in table. */
  contextWindows?: Record<string, number>;
  /** Token estimators that context policies may name. */
  tokenEstimators?: Record<string, TokenEstimator>;
  /** Projectors that context policies may name. */
  projectors?: Record<string, ContextProjector>;
  /**
   * Your own prices of tokens, in US dollars, for `cost` and for limits in money; where it returns undefined, the list
   * price of the provider applies.
   */
  priceOf?: PriceOf;
  /** Tell providers which prefix the next request shares, so that they cache the prefix; default true. */
  promptCaching?: boolean;
  /** Your own AI SDK models by id or prefix. */
  models?: ModelRegistryOptions['models'];
  /** Short names for models, such as `fast`. */
  aliases?: ModelRegistryOptions['aliases'];
  /**
   * HTTP callers may name `scripted:` models for agents that let them choose the model; default false. A script can
   * call any tool of the agent with any arguments, so use this only for development and tests.
   */
  scriptedModels?: boolean;
  /** Folder of the embedded PostgreSQL; default `.lanefold`. */
  embeddedDir?: string;
  /** Migrate the database first; default true only for the embedded PostgreSQL. */
  migrate?: boolean;
  /** Maximum database connections of this process, not counting the queue's; default 10. */
  poolSize?: number;
  /**
   * Use named prepared statements; default `LANEFOLD_PREPARED_STATEMENTS`, else true. Set false behind PgBouncer < 1.21
   * in transaction mode.
   */
  preparedStatements?: boolean;
  /**
   * How to treat a database role with more privileges than it needs: `refuse` to start, `warn`, or do nothing. Default
   * `LANEFOLD_ROLE_CHECK`, else `refuse` if `NODE_ENV` is `production`. The embedded PostgreSQL is never refused.
   */
  roleCheck?: RoleCheck;
  /** First part of every queue name; default `lf`. */
  queuePrefix?: string;
  /** The queue belongs to this process alone, and `close` deletes it. For scripts and tests; default false. */
  privateQueue?: boolean;
  /** Number of queues; default `LANEFOLD_QUEUE_SHARDS`, else 1. Must be the same in every process. */
  queueShards?: number;
  /**
   * Largest context of a lane, in bytes; default `LANEFOLD_MAX_CONTEXT_BYTES`, else 32 MiB. Writes that would exceed it
   * are rejected with `context_too_large`. Must be the same in every process.
   */
  maxContextBytes?: number;
  /**
   * Texts of messages and tool results with more bytes are stored outside the log; the model sees their beginning and
   * end, and reads the rest with the tool `read_content`. Default `LANEFOLD_LARGE_CONTENT_BYTES`, else all texts stay
   * in the log. Must be the same in every process.
   */
  largeContentBytes?: number;
  /** After this many ms without activity, a wait or stream reports if no worker can take the run; default 5,000. */
  unattendedMs?: number;
  /** Secrets for checkpoint tokens: the first signs, all verify. Default `LANEFOLD_TOKEN_SECRET`, comma-separated. */
  tokenSecrets?: readonly string[];
  /**
   * Keys whose values are redacted in traces, jobs and logs: exact names, case-insensitive. Default: `password`,
   * `token` and the like.
   */
  redactKeys?: readonly string[];
  /** OpenTelemetry traces and metrics; the application registers the SDK. Default `LANEFOLD_OTEL`, else off. */
  telemetry?: boolean | TelemetryOptions;
  /** Where to log, for example a `pino` logger. Default: stderr, as set by `LANEFOLD_LOG` and `LANEFOLD_LOG_LEVEL`. */
  logger?: Logger;
}

export const optionKeys: KeysOf<LanefoldOptions> = {
  strategies: true,
  schedules: true,
  scorers: true,
  circuits: true,
  privateWebhooks: true,
  telemetry: true,
  logger: true,
  scriptedModels: true,
  maxContextBytes: true,
  largeContentBytes: true,
  databaseUrl: true,
  directUrl: true,
  readUrl: true,
  redisUrl: true,
  tenant: true,
  roleCheck: true,
  agents: true,
  tools: true,
  requestTransformers: true,
  contextWindows: true,
  tokenEstimators: true,
  projectors: true,
  priceOf: true,
  promptCaching: true,
  models: true,
  aliases: true,
  embeddedDir: true,
  migrate: true,
  poolSize: true,
  preparedStatements: true,
  queuePrefix: true,
  privateQueue: true,
  queueShards: true,
  unattendedMs: true,
  tokenSecrets: true,
  redactKeys: true,
};

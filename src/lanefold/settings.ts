import { createAgentRegistry, type AgentRegistry } from '../agent/definition/registry.ts';
import { checkDatabaseUrl, checkRedisUrl } from '../base/checks/connection-url.ts';
import { refuseUnknownKeys } from '../base/checks/unknown-keys.ts';
import { assertWhole } from '../base/checks/values.ts';
import {
  largeContentBytes,
  maxContextBytes,
  preparedStatements,
  privateWebhooks,
  queueShards,
  telemetryWanted,
} from '../base/environment.ts';
import { circuitRule } from '../features/circuits/rule.ts';
import { builtInScorers } from '../features/evals/scorers/built-in.ts';
import type { Scorer } from '../features/evals/scorers/scorer.ts';
import { LanefoldError } from '../base/errors.ts';
import { roleCheckOf } from '../runs/operations/access/role-check.ts';
import { openLogger, type Logger } from '../base/log/logger.ts';
import { createCounting } from '../agent/models/counting.ts';
import { createModelRegistry } from '../agent/models/registry.ts';
import { readPolicy } from '../agent/policy/read-policy.ts';
import type { Database } from '../database/postgres/pool.ts';
import { createKeyRedactor } from '../base/redaction/sensitive-keys.ts';
import { readContent } from '../database/store/content/read-content.ts';
import { tokenSecrets } from '../base/tokens/token.ts';
import { readContentTool } from '../agent/tools/built-in-tools.ts';
import { optionKeys, type LanefoldOptions } from './options.ts';
import { readChain } from '../agent/models/model-chain.ts';

export type LanefoldSettings = Awaited<ReturnType<typeof readSettings>>;

/**
 * Reads options and environment, and checks everything that can be checked before anything starts.
 *
 * @param database the database that the tool `read_content` reads from; it opens after the agents are read
 */
export async function readSettings(options: LanefoldOptions, database: () => Database) {
  refuseUnknownKeys('createLanefold', options, optionKeys);
  const { unattendedMs = 5_000, agents = [], embeddedDir = '.lanefold' } = options;
  assertWhole(unattendedMs, 'unattendedMs', {
    minimum: 1,
    maximum: 86_400_000,
    hint: 'Omit it for the default of 5,000.',
  });
  const contentLimit = largeContentBytes(options.largeContentBytes);
  const redactor = createKeyRedactor(options.redactKeys);
  const log = await openLogger(redactor, options.logger);
  const registry = await agentsOf(options, contentLimit, database, log);
  const { telemetry: wanted = telemetryWanted() } = options;
  // Imported on demand, so that a process without telemetry does not load it.
  const telemetry = wanted
    ? await (
        await import('../runs/telemetry/opentelemetry/open.ts')
      ).openTelemetry(wanted === true ? {} : wanted, redactor)
    : undefined;
  const models = createModelRegistry({
    ...(options.models ? { models: options.models } : {}),
    ...(options.aliases ? { aliases: options.aliases } : {}),
    ...(options.scriptedModels ? { scriptedModels: true } : {}),
  });
  const counting = createCounting(options, models.target);
  for (const { contextPolicy } of agents) if (contextPolicy !== undefined) counting.check(readPolicy(contextPolicy));
  const roleCheck = roleCheckOf(options.roleCheck);
  const urls = urlsOf(options);
  const settings = {
    ...urls,
    embeddedDir,
    unattendedMs,
    contentLimit,
    redactor,
    log,
    telemetry,
    models,
    counting,
    roleCheck,
    agents: registry,
    shards: queueShards(options.queueShards),
    prepare: options.preparedStatements ?? preparedStatements(),
    contextLimit: maxContextBytes(options.maxContextBytes),
    secrets: tokenSecrets(options.tokenSecrets),
    prefix: options.queuePrefix ?? 'lf',
    privateQueue: options.privateQueue ?? false,
    poolSize: options.poolSize ?? 10,
    promptCaching: options.promptCaching ?? true,
    migrate: options.migrate ?? !urls.databaseUrl,
    tenant: options.tenant,
    schedules: options.schedules,
    circuits: circuitRule(options.circuits),
    scorers: scorersOf(options.scorers),
    privateWebhooks: options.privateWebhooks ?? privateWebhooks(),
  };
  for (const { name, model } of agents)
    for (const each of readChain(model, `Agent ${JSON.stringify(name)}`, 'invalid_agent').models) models.check(each);
  return settings;
}

/** @throws LanefoldError `invalid_scorer` */
function scorersOf(given: readonly Scorer[] = []): readonly Scorer[] {
  const taken = new Set(['judge', ...builtInScorers.map(({ name }) => name)]);
  for (const { name } of given) {
    if (taken.has(name)) {
      throw new LanefoldError('invalid_scorer', `Two scorers are named ${name}.`, {
        hint: 'Rename yours; the built-in ones keep their names.',
      });
    }
    taken.add(name);
  }
  return given;
}

const agentsOf = (
  options: LanefoldOptions,
  contentLimit: number | undefined,
  database: () => Database,
  log: Logger,
): Promise<AgentRegistry> =>
  createAgentRegistry(options.agents ?? [], {
    ...options,
    always:
      contentLimit === undefined
        ? []
        : [readContentTool(contentLimit, (threadId, id, range) => readContent(database(), threadId, id, range))],
    maxToolResultBytes: contentLimit === undefined ? undefined : 2 ** 24,
    onRename: ({ from, ...facts }) =>
      log.warn(
        { ...facts, from },
        'renamed a tool of an MCP server, because providers or another tool rule its name out',
      ),
  });

const userOf = (url: string): string => new URL(url).username;

/** `databaseUrl` undefined: the embedded PostgreSQL; `redisUrl` undefined: the queue in PostgreSQL. */
function urlsOf(options: LanefoldOptions) {
  // Compose files turn an unset variable into an empty one.
  const databaseUrl = options.databaseUrl || process.env['DATABASE_URL'] || undefined;
  if (databaseUrl) checkDatabaseUrl(databaseUrl, sourceOf(databaseUrl, 'DATABASE_URL', 'databaseUrl'));
  const directUrl = options.directUrl || process.env['LANEFOLD_DIRECT_URL'] || undefined;
  if (directUrl) checkDatabaseUrl(directUrl, sourceOf(directUrl, 'LANEFOLD_DIRECT_URL', 'directUrl'));
  const readUrl =
    options.readUrl === null ? undefined : options.readUrl || process.env['LANEFOLD_READ_URL'] || undefined;
  if (readUrl) {
    checkDatabaseUrl(readUrl, sourceOf(readUrl, 'LANEFOLD_READ_URL', 'readUrl'));
    // what a connection may see is found out on the primary
    if (databaseUrl && userOf(readUrl) !== userOf(databaseUrl)) {
      throw new LanefoldError('invalid_input', 'LANEFOLD_READ_URL has another user than DATABASE_URL.', {
        hint: 'Nothing was started. Let both log in as the same role: a follower has the roles of its primary.',
      });
    }
  }
  const redisUrl = options.redisUrl === null ? undefined : (options.redisUrl ?? process.env['REDIS_URL'] ?? undefined);
  if (redisUrl) checkRedisUrl(redisUrl, sourceOf(redisUrl, 'REDIS_URL', 'redisUrl'));
  return { databaseUrl, directUrl, readUrl, redisUrl };
}

/**
 * The name of a setting in an error: the environment variable if the value came from it, because the command line
 * passes such values on as options.
 */
const sourceOf = (value: string, variable: string, option: string): string =>
  process.env[variable] === value ? variable : option;

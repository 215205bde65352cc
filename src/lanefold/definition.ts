import type { AgentDefinition } from '../agent/definition/definition.ts';
import { LanefoldError } from '../base/errors.ts';
import { refuseUnknownKeys } from '../base/checks/unknown-keys.ts';
import { optionKeys, type LanefoldOptions } from './options.ts';

/**
 * Options that belong to a process, and where the command line takes them from. They are no part of a definition: commands
 * that load no agents file, such as `lanefold cancel`, need the same ones.
 */
const ofProcess = {
  databaseUrl: 'Set DATABASE_URL or --database-url.',
  directUrl: 'Set LANEFOLD_DIRECT_URL.',
  readUrl: 'Set LANEFOLD_READ_URL.',
  redisUrl: 'Set REDIS_URL or --redis-url.',
  embeddedDir: 'Set LANEFOLD_DIR or --dir.',
  migrate: 'Run `lanefold migrate`; `lanefold dev` migrates by itself.',
  tenant: 'The command line serves all tenants; the role of its connection decides which rows it sees.',
  preparedStatements: 'Set LANEFOLD_PREPARED_STATEMENTS.',
  roleCheck: 'Set LANEFOLD_ROLE_CHECK.',
  queuePrefix: 'The command line uses the queues of lf.',
  privateQueue: '`lanefold run` has its own queue; the other commands share theirs.',
  queueShards: 'Set LANEFOLD_QUEUE_SHARDS.',
  maxContextBytes: 'Set LANEFOLD_MAX_CONTEXT_BYTES.',
  largeContentBytes: 'Set LANEFOLD_LARGE_CONTENT_BYTES.',
  tokenSecrets: 'Set LANEFOLD_TOKEN_SECRET.',
  privateWebhooks: 'Set LANEFOLD_PRIVATE_WEBHOOKS.',
  scriptedModels: '`lanefold dev` allows scripted models; the other commands do not.',
} satisfies Partial<Record<keyof LanefoldOptions, string>>;

/** The options of `createLanefold` that do not belong to one process: agents, models, prices and the like. */
export type LanefoldDefinition<AGENTS extends AgentDefinition = AgentDefinition> = Omit<
  LanefoldOptions<AGENTS>,
  keyof typeof ofProcess
>;

const definitionKeys = Object.fromEntries(Object.entries(optionKeys).filter(([key]) => !Object.hasOwn(ofProcess, key)));

/** What a definition takes. */
export const definitionOptions: readonly string[] = Object.keys(definitionKeys);

/** @param what for the message @throws LanefoldError `invalid_input` */
export function checkDefinition(what: string, given: object): void {
  const key = Object.keys(given).find((name) => Object.hasOwn(ofProcess, name));
  if (key !== undefined) {
    throw new LanefoldError(
      'invalid_input',
      `${what} does not take ${JSON.stringify(key)}, which belongs to a process.`,
      {
        hint: `${ofProcess[key as keyof typeof ofProcess]} In your own program, pass it to createLanefold.`,
        details: { key },
      },
    );
  }
  refuseUnknownKeys(what, given, definitionKeys);
}

/**
 * What an agents file of the command line exports if it needs more than a list of agents: your own models, their prices and
 * context windows, scorers, transformers. Your own programs pass the same to `createLanefold`.
 *
 * @throws LanefoldError `invalid_input` for what belongs to a process, such as `databaseUrl`, and for unknown options
 *
 * @example
 * ```ts
 * import { createLanefold, defineAgent, defineLanefold } from 'lanefold';
 *
 * const definition = defineLanefold({
 *   agents: [defineAgent({ name: 'support', model: 'fast' })],
 *   aliases: { fast: 'scripted:echo' },
 *   priceOf: ({ inputTokens, outputTokens }) => (inputTokens + outputTokens) * 1e-7,
 * });
 * // in agents.ts: export default definition
 * const lanefold = await createLanefold(definition);
 * await lanefold.close();
 * ```
 */
export function defineLanefold<AGENTS extends AgentDefinition = AgentDefinition>(
  definition: LanefoldDefinition<AGENTS>,
): LanefoldDefinition<AGENTS> {
  checkDefinition('defineLanefold', definition);
  return Object.freeze({ ...definition });
}

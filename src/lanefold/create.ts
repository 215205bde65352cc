// Drivers and queues load only where they are needed: a module that only defines agents and tools starts without them.
import type { AgentDefinition } from '../agent/definition/definition.ts';
import type { LanefoldOptions } from './options.ts';
import type { Lanefold } from './lanefold.ts';
import type { MigrateOptions, MigrateResult } from '../database/store/schema/migrate.ts';
import type { StrategyName, StrategyTypes } from '../agent/strategies/types.ts';

/**
 * The strategies that requests may name. If the agents are known at compile time: those in `StrategyTypes`, where you
 * declare your own; otherwise any strategy name.
 */
type StrategyOf<AGENTS extends AgentDefinition> = string extends AGENTS['name'] ? StrategyName : keyof StrategyTypes;

/**
 * Connects to the database and the queue.
 *
 * @throws LanefoldError `database_unreachable`, `database_outdated`, `database_too_new`, `queue_unreachable`,
 * `embedded_postgres_failed`, `unknown_model`, `missing_provider_key`, `invalid_agent`, `invalid_tool`,
 * `invalid_policy`, `telemetry_unavailable`, `tenants_not_enforced`, `role_unfit`
 *
 * @example
 * ```ts
 * import { createLanefold, defineAgent } from 'lanefold';
 *
 * const support = defineAgent({ name: 'support', model: 'scripted:echo' });
 * const lanefold = await createLanefold({ agents: [support] });
 * await lanefold.startWorker();
 * const run = await lanefold.runs.enqueue({ agent: 'support', input: 'Where is my order?' });
 * const { status, result } = await lanefold.runs.wait(run);
 * console.log(status, result);
 * await lanefold.close();
 * ```
 */
export async function createLanefold<AGENTS extends AgentDefinition = AgentDefinition>(
  options: LanefoldOptions<AGENTS> = {},
): Promise<Lanefold<AGENTS, StrategyOf<AGENTS>>> {
  const { openLanefold } = await import('./open.ts');
  return openLanefold(options) as Promise<Lanefold<AGENTS, StrategyOf<AGENTS>>>;
}

/**
 * Updates the database at `url` (a direct connection, not a transaction pooler) to this code's schema: the tables with
 * Drizzle's migrations, then the functions, views and triggers under db/sql whose text changed.
 *
 * Waits for a locked table in short intervals, so that other writers are not blocked in the meantime.
 *
 * @throws LanefoldError `invalid_input` for a URL that is not PostgreSQL's; `thread_locked`, with the session's name,
 * if one holds a table for longer than `lockPatienceMs`
 *
 * @example
 * ```ts
 * import { migrate } from 'lanefold';
 *
 * await migrate(process.env.DATABASE_URL!);
 * ```
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<MigrateResult> {
  const { migrate: apply } = await import('../database/store/schema/migrate.ts');
  return apply(url, options);
}

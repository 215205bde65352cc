import type { AgentDefinition } from '../agent/definition/definition.ts';
import type { RunningServer, ServerOptions } from '../server/options.ts';
import type { Library } from '../features/library/library.ts';
import type { Recovered } from './recovery/recover.ts';
import type { RunningWorker, WorkerOptions } from '../worker/process/options.ts';
import type { StrategyName } from '../agent/strategies/types.ts';

export interface Lanefold<
  AGENTS extends AgentDefinition = AgentDefinition,
  STRATEGY extends string = StrategyName,
> extends Library<AGENTS, STRATEGY> {
  /** Starts a worker that processes runs in this process. @throws LanefoldError `queue_unreachable`, `role_unfit` */
  startWorker(options?: WorkerOptions): Promise<RunningWorker>;
  /** Serves the HTTP API, Bull Board and the API reference in this process. @throws LanefoldError see `startServer` */
  startServer(options?: ServerOptions): Promise<RunningServer>;
  /**
   * Makes queue and database one again after the database was restored from a backup: empties the queues of this fleet's
   * shards, and queues every unfinished run of the fleet again, with a note in its trace. Stop all processes first. If it
   * fails, call it again.
   *
   * @throws LanefoldError `role_unfit`, `queue_unreachable`, `database_unreachable`
   *
   * @example
   * ```ts
   * import { createLanefold } from 'lanefold';
   *
   * const lanefold = await createLanefold();
   * const { runs, gone } = await lanefold.recover();
   * console.log(`${runs} runs continue; ${gone.length} were accepted after the backup`);
   * await lanefold.close();
   * ```
   */
  recover(): Promise<Recovered>;
  /** Stops the servers and workers started here, then closes every connection. */
  close(): Promise<void>;
}

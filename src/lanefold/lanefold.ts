import type { AgentDefinition } from '../agents/definition.ts';
import type { RunningServer, ServerOptions } from '../api/options.ts';
import type { Library } from '../library/library.ts';
import type { RunningWorker, WorkerOptions } from '../runtime/worker/options.ts';
import type { StrategyName } from '../strategies/types.ts';

export interface Lanefold<
  AGENTS extends AgentDefinition = AgentDefinition,
  STRATEGY extends string = StrategyName,
> extends Library<AGENTS, STRATEGY> {
  /** Starts a worker that processes runs in this process. @throws LanefoldError `queue_unreachable`, `role_unfit` */
  startWorker(options?: WorkerOptions): Promise<RunningWorker>;
  /** Serves the HTTP API, Bull Board and the API reference in this process. @throws LanefoldError see `startServer` */
  startServer(options?: ServerOptions): Promise<RunningServer>;
  /** Stops the servers and workers started here, then closes every connection. */
  close(): Promise<void>;
}

import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import type { Scorer } from '../scorers/scorer.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { RunRef } from '../../../database/store/run/run.ts';

/** How the runs of evals are requested, for each tenant. */
export interface EvalRequests {
  acceptingFor(tenant: string): EnqueueDeps;
  cancel(tenant: string, run: RunRef): Promise<unknown>;
  erase(tenant: string, threadId: string): Promise<unknown>;
}

export interface EvalDependencies {
  db: Database;
  /** It runs the evals of this private queue; null: those of shared queues. */
  queuePrefix: string | null;
  /** The agents of this process, and its versions of them as `agent@label` and `agent@id`: it starts the runs of these. */
  agents: readonly string[];
  requests: EvalRequests;
  /** Those of the program, besides the built-in ones. */
  scorers: readonly Scorer[];
  onError: (error: unknown) => void;
}

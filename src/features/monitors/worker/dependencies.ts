import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import type { Scorer } from '../../evals/scorers/scorer.ts';
import type { Database } from '../../../database/postgres/pool.ts';

export interface MonitorDependencies {
  db: Database;
  /** It processes the monitors of this private queue; null: those of shared queues. */
  queuePrefix: string | null;
  /** The agents of this process: it asks the judges among them. */
  agents: readonly string[];
  /** Those of the program. */
  scorers: readonly Scorer[];
  /** How the runs of judges are requested, for each tenant. */
  acceptingFor(tenant: string): EnqueueDeps;
  /** How long a monitor rests after a look. */
  sweepMs: number;
  onError: (error: unknown) => void;
}

import type { WorkerOptions } from '../runtime/worker/options.ts';

/** What a worker process of a campaign is told, as JSON in `CHAOS_WORKER`. */
export interface ChaosWorkerOptions {
  databaseUrl: string;
  redisUrl: string | null;
  worker: Pick<WorkerOptions, 'leaseMs' | 'sweepMs' | 'cancelGraceMs' | 'concurrency'>;
  /** Folder of the tools' journal. */
  journal: string;
  /** The user's module of agents; without it the built-in agent. */
  agents?: string;
}

/** What a worker process says once it takes work, as a line of JSON on stdout. */
export interface ChaosWorkerReady {
  worker_id: string;
}

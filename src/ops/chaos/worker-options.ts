import type { WorkerOptions } from '../../worker/process/options.ts';

/** The options of a campaign's worker process, passed as JSON in `CHAOS_WORKER`. */
export interface ChaosWorkerOptions {
  databaseUrl: string;
  redisUrl: string | null;
  worker: Pick<WorkerOptions, 'leaseMs' | 'sweepMs' | 'cancelGraceMs' | 'concurrency' | 'webhookTimeoutMs'>;
  /** Folder of the journal that the tools write, and of the history. */
  journal: string;
  /** Of the campaign's provider; absent if `agents` is set. */
  providerUrl?: string;
  /** The user's agents module; default: the built-in agents. */
  agents?: string;
}

/** The line of JSON that a worker process prints on stdout once it accepts jobs. */
export interface ChaosWorkerReady {
  worker_id: string;
}

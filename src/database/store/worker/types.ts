// Generated from declaration.ts beside it: run `npm run types:api`.

/** The recent activity of the workers. */
export interface FleetActivity {
  /** Workers that hold runs now. */
  workers: {
    id: string;
    /** Runs it holds. */
    runs: number;
    /** When the latest of their leases expires. */
    leaseUntil: Date;
    /** When the oldest of them started. */
    oldestRunAt: Date;
  }[];
  /** Failed runs by error. */
  errors: {
    type: string;
    runs: number;
    /** When the last one ended. */
    lastAt: Date;
  }[];
  /** Runs, their tokens and their cost, by the time slot in which the runs were accepted, oldest first. */
  slots: {
    /** Start of the slot. */
    at: Date;
    runs: number;
    failed: number;
    inputTokens: number;
    outputTokens: number;
    cachedTokens: number;
    /** In US dollars, at the providers’ list prices. */
    cost: number;
    /** Tokens of models without a known price; `cost` does not include them. */
    unpricedTokens: number;
  }[];
  /** `errors` and `slots` count the runs that were accepted after this time, at most the newest 10,000. */
  since: Date;
}

/** The current state of the queue and of the workers. A time is 0 if nothing waits. */
export interface FleetStats {
  /** Unfinished runs by status. */
  runs: Record<'waiting' | 'queued' | 'running' | 'suspended', number>;
  /** How long ago the oldest queued run could have started or continued: it waits for a worker or a limit. */
  oldestQueuedSeconds: number;
  /** The same for runs that wait only for a worker, not for a limit. */
  oldestReadySeconds: number;
  /** How long the oldest due delivery of a webhook has been waiting for a worker; 0 if no delivery is due. */
  oldestDueDeliverySeconds: number;
  /**
   * Number of workers by state; `dead` counts those that died in the last hour. `workers` lists those that hold
   * runs.
   */
  fleet: {
    alive: number;
    draining: number;
    dead: number;
  };
  /**
   * Jobs by queue and state. Ended jobs count for as long as the queue keeps them. If a queue does not answer,
   * there are no counts.
   */
  jobs: {
    queue: string;
    counts: Record<string, number>;
  }[];
}

/** A worker, in any process. */
export interface ListedWorker {
  id: string;
  /**
   * `draining`: takes no more runs and stops once its runs are done. `dead`: stopped reporting. `stopped`: shut
   * down properly.
   */
  state: WorkerState;
  /** The machine or container it runs on. */
  host: string;
  pid: number;
  /** Version of the package. */
  version: string;
  /** Prefix of the queues it takes jobs from. */
  queue: string;
  /** The agents it can execute, by name. */
  agents: string[];
  strategies: string[];
  /** Maximum concurrent runs. */
  concurrency: number;
  /** Runs it held at its last heartbeat. */
  runsHeld: number;
  /** When it started. */
  startedAt: Date;
  /** When it last reported. */
  heartbeatAt: Date;
  /** When it shut down properly. */
  stoppedAt: Date | null;
}

/**
 * `draining`: takes no more runs and stops once its runs are done. `dead`: stopped reporting. `stopped`: shut
 * down properly.
 */
export type WorkerState = 'alive' | 'draining' | 'dead' | 'stopped';

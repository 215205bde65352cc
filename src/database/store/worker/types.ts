// Generated from declaration.ts beside it: run `npm run types:api`.

/** The activity of the workers. Runs that had ended before their thread was erased stay counted. */
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
  /**
   * Runs, their tokens and their cost, by the time slot in which the runs were accepted, oldest first. Slots
   * without runs are left out.
   */
  slots: {
    /** Start of the slot. */
    at: Date;
    /** Runs that were accepted. */
    runs: number;
    /** How many of them failed. */
    failed: number;
    /** How many of them completed without an answer: a limit ended them. */
    unanswered: number;
    inputTokens: number;
    outputTokens: number;
    cachedTokens: number;
    /** In US dollars, at the providers’ list prices. */
    cost: number;
    /** Tokens of models without a known price; `cost` does not include them. */
    unpricedTokens: number;
    /** The runs that have marks, by mark, most first. */
    marks: {
      /** Kind of the mark. */
      mark: string;
      /** How many runs have it. */
      runs: number;
    }[];
    /** How many of them have not ended. */
    unfinished: number;
    /**
     * Half of the runs that a worker started waited for that no longer than this, from when they were accepted, or
     * from their `startAt`. Estimated from steps of a factor of 1.4. Null: none was started.
     */
    waitP50Ms: number | null;
    /**
     * 95 % of the runs that a worker started waited for that no longer than this, from when they were accepted, or
     * from their `startAt`. Estimated from steps of a factor of 1.4. Null: none was started.
     */
    waitP95Ms: number | null;
  }[];
  /** The same of the whole period by agent and version, most runs first; of all agents, whichever was asked for. */
  agents: {
    agent: string;
    version: string | null;
    /** Runs that were accepted. */
    runs: number;
    /** How many of them failed. */
    failed: number;
    /** How many of them completed without an answer: a limit ended them. */
    unanswered: number;
    inputTokens: number;
    outputTokens: number;
    cachedTokens: number;
    /** In US dollars, at the providers’ list prices. */
    cost: number;
    /** Tokens of models without a known price; `cost` does not include them. */
    unpricedTokens: number;
    /** The runs that have marks, by mark, most first. */
    marks: {
      /** Kind of the mark. */
      mark: string;
      /** How many runs have it. */
      runs: number;
    }[];
  }[];
  /** New versions of agents, oldest first; at most the newest 100. */
  deploys: {
    /** When a worker first started with the version. */
    at: Date;
    agent: string;
    /** Id of the version. */
    version: string;
    /** Its label. */
    label: string | null;
  }[];
  /** How long a slot is: it depends on the period. */
  slotMinutes: number;
  /** `errors`, `slots` and `agents` count the runs accepted since then: the start of a slot. */
  since: Date;
  /** The end of the period. */
  until: Date;
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

// Generated from declaration.ts beside it: run `npm run types:api`.

import type { FleetActivity } from '../../../database/store/worker/types.ts';
import type { FleetStats } from '../../../database/store/worker/types.ts';
import type { KeyLimits } from '../../../base/access/principal.ts';
import type { TenantSettings } from '../../../database/store/tenant/tenant-settings.ts';
import type { ListedWorker } from '../../../database/store/worker/types.ts';

/** The error of each service that does not answer; absent for a healthy one. */
export interface FleetHealth {
  database?: unknown;
  queue?: unknown;
}

/** What a worker did in a bounded time. */
export interface WorkReport {
  /** Runs that the worker ended, or suspended for approval. */
  ended: number;
  /** Runs that it released for other workers, because the time was over. */
  released: number;
  /** Nothing was due any more; false: the time was over before. */
  idle: boolean;
}

export interface DeclaredLibrary {
  /** Workers, and runs, marks, errors, tokens and cost over time. */
  activity(options?: {
    /** Hours to look back; default 24. */
    hours?: number;
    /** Start of the period, instead of `hours`; at most 366 days before its end. */
    since?: Date;
    /** End of the period; default now. */
    until?: Date;
    /** Count the runs of one agent. */
    agent?: string;
    /** Count the runs of one version of it, by its id. */
    version?: string;
  }): Promise<FleetActivity>;
  /** Counts of unfinished runs, of workers and of jobs. */
  stats(): Promise<FleetStats>;
  /**
   * Whether the database and the queue answer; never rejects. While a queue in Redis does not answer, runs are
   * accepted: workers find them once it does.
   */
  health(options?: {
    /** How long the queue may take; default 3,000. */
    queueTimeoutMs?: number;
  }): Promise<FleetHealth>;
}

export interface Tenants {
  /**
   * Changes only the settings given. `limits` apply to all keys of the tenant together and replace the previous
   * limits; servers notice within ten seconds. With `chained`, threads that the tenant creates from now on have
   * tamper evidence.
   *
   * @throws LanefoldError `invalid_id`, `invalid_input`
   */
  configure(
    tenant: string,
    settings: {
      limits?: KeyLimits;
      chained?: boolean;
    },
    options?: {
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<TenantSettings>;
  /** The limits of a tenant; undefined if it has no settings. */
  limits(tenant: string): Promise<KeyLimits | undefined>;
  /** The tenants that have settings. */
  list(): Promise<TenantSettings[]>;
}

export interface Workers {
  /**
   * The workers that are alive, then those that stopped or died within `hours`, newest first; at most 1,000
   * workers.
   *
   * @example
   * const alive = (await lanefold.workers.list()).filter(({ state }) => state === 'alive');
   */
  list(options?: {
    /** Hours to look back; default 1. */
    hours?: number;
  }): Promise<ListedWorker[]>;
}

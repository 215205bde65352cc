// Generated from declaration.ts beside it: run `npm run types:api`.

import type { ModelOption } from '../../agent/models/model-chain.ts';
import type { Score } from '../evals/store/types.ts';

/** A monitor with its state. If `readTo` stalls, no worker has its scorers or its judge. */
export interface ListedMonitor {
  name: string;
  /** The tenant whose runs it scores. */
  tenant: string;
  /** The agents whose runs it scores; empty: all. */
  agents: string[];
  /** The share of the runs that it scores. */
  sample: number;
  /**
   * Names of scorers that workers have; see `defineScorer`. A worker that lacks a scorer leaves the monitor to
   * other workers.
   */
  scorers: string[];
  /** What the judge looks at. */
  rubric: string | null;
  /** The agent that scores by the rubric, and its models. */
  judge: {
    agent: string;
    /** Overrides the model of the agent, with those that stand in for it. */
    model?: ModelOption;
  } | null;
  alert: {
    /** The mean score below which an alert is raised. */
    below: number;
    /**
     * How many of the last runs count for the mean score; default 50. An alert begins or ends at most once in so many
     * runs.
     */
    of: number;
  } | null;
  /** How many runs were scored since the monitor was set. */
  scored: number;
  /** Since when its scores are low. */
  lowSince: Date | null;
  /** The monitor has scored all runs that ended before this time. */
  readTo: Date;
  /** When it was first set. */
  createdAt: Date;
  /** When it was last changed. */
  updatedAt: Date;
  /** `operator`, `key:<id>` or `cli:<user>`. */
  updatedBy: string;
}

/** When the scores of a monitor are low: webhooks get `monitor.low` and `monitor.recovered`. */
export interface MonitorAlert {
  /** The mean score below which an alert is raised. */
  below: number;
  /**
   * How many of the last runs count for the mean score; default 50. An alert begins or ends at most once in so many
   * runs.
   */
  of?: number;
}

/** A monitor, as you set it. */
export interface MonitorDefinition {
  /** The agents whose runs it scores; empty: all. */
  agents?: string[];
  /** The share of the runs that it scores. */
  sample?: number;
  /**
   * Names of scorers that workers have; see `defineScorer`. A worker that lacks a scorer leaves the monitor to
   * other workers.
   */
  scorers?: string[];
  /** What the judge looks at. */
  rubric?: string;
  /** The agent that scores by the rubric, and its models. */
  judge?: {
    agent: string;
    /** Overrides the model of the agent, with those that stand in for it. */
    model?: ModelOption;
  };
  /** When the scores of a monitor are low: webhooks get `monitor.low` and `monitor.recovered`. */
  alert?: MonitorAlert;
}

/** The score that a monitor gave a run. */
export interface RunScore {
  threadId: string;
  runId: string;
  agent: string;
  agentVersion: string | null;
  /** `waiting`: the judge has not scored the run yet. */
  status: 'waiting' | 'done';
  /** The mean of the scores that are not null; 0 for a failed run. */
  score: number | null;
  scores: Score[];
  /** When the run ended. */
  endedAt: Date;
  /** When it was scored. */
  scoredAt: Date;
}

export interface Monitors {
  /** List the monitors. A key of a tenant sees the monitors of the tenant. */
  list(): Promise<ListedMonitor[]>;
  /**
   * Get a monitor.
   *
   * @throws LanefoldError `monitor_not_found`
   */
  get(
    name: string,
    options?: {
      /** The tenant of the monitor; default: the tenant of the library, else `default`. */
      tenant?: string;
    },
  ): Promise<ListedMonitor>;
  /**
   * Sets or changes a monitor: workers score a share of the runs that end from now on. Setting it to what it is
   * changes nothing. A change keeps its scores, closes its alert without an event and restarts the count of the
   * alert.
   *
   * @example
   * await lanefold.monitors.set('short-answers', { agents: ['support'], sample: 0.2, scorers: ['short'] });
   *
   * @throws LanefoldError `invalid_input`
   */
  set(
    name: string,
    definition: MonitorDefinition,
    options?: {
      /** The tenant of the monitor; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedMonitor>;
  /**
   * Remove a monitor and its scores.
   *
   * @throws LanefoldError `monitor_not_found`
   */
  remove(
    name: string,
    options?: {
      /** The tenant of the monitor; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<void>;
  /**
   * List the scores that a monitor gave to runs, newest first.
   *
   * @throws LanefoldError `monitor_not_found`
   */
  scores(
    name: string,
    options?: {
      /** The tenant of the monitor; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** The `next_after` of the previous page. */
      after?: string;
      /** Maximum number of scores; default 50. */
      limit?: number;
      /** Only runs with a lower score. */
      below?: number;
    },
  ): Promise<{
    data: RunScore[];
    /** Pass it as `after`. */
    nextAfter: string | null;
  }>;
}

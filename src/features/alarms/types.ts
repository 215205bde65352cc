// Generated from declaration.ts beside it: run `npm run types:api`.

import type { RunStatus } from '../../database/store/run/types.ts';
import type { MarkKind } from '../../database/store/trace/types.ts';
import type { JsonObject } from '../../agent/context/message.ts';

/** What an alarm counted in five minutes. */
export interface AlarmCount {
  /** When the five minutes began. */
  at: Date;
  /** The highest count of runs that matched. */
  runs: number;
  /** How many runs there were then, for `share`. */
  allRuns: number | null;
  /** Whether too many runs matched. */
  raised: boolean;
}

/** An alarm, as you set it. `withinMs` is ten minutes by default. */
export interface AlarmDefinition {
  /** The runs that an alarm counts: a filter of `runs.list` without times. */
  filter: AlarmFilter;
  /** The alarm is raised when more runs than this match; default 0. The newest 10,000 runs are looked at. */
  moreThan?: number;
  /** And when they are more than this share of all runs of the agent, version, model and threads of the filter. */
  share?: number;
  /** Runs that were accepted within this time count. Choose more time than runs take. */
  withinMs?: number;
  /** How long no more than that must match before the alarm is cleared; default one minute. */
  clearAfterMs?: number;
}

/** The runs that an alarm counts: a filter of `runs.list` without times. */
export interface AlarmFilter {
  status?: RunStatus;
  /** Runs of this agent. */
  agent?: string;
  /** Runs that this version of their agent took: `agentVersion`. */
  version?: string;
  /** A run with this mark. */
  mark?: MarkKind;
  /**
   * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take
   * it, the run before it, or its start.
   */
  waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
  /** Runs of threads whose metadata contains this JSON object. */
  metadata?: JsonObject;
  /** Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
  text?: string;
  /** False: runs that ended without an answer. */
  answered?: boolean;
  /** False: only runs that no tool call has started. */
  children?: boolean;
  /** Runs with this model. */
  model?: string;
  /** Failed runs with this error type. */
  errorType?: string;
  /** Runs that spent at least this many tokens. */
  minTokens?: number;
}

/** An alarm with its state. If `countedAt` stalls, no worker of the shared queue is alive. */
export interface ListedAlarm {
  name: string;
  /** The tenant whose runs it counts. */
  tenant: string;
  /** The runs that an alarm counts: a filter of `runs.list` without times. */
  filter: AlarmFilter;
  /** The alarm is raised when more runs than this match; default 0. The newest 10,000 runs are looked at. */
  moreThan: number;
  /** And when they are more than this share of all runs of the agent, version, model and threads of the filter. */
  share: number | null;
  /** Runs that were accepted within this time count. Choose more time than runs take. */
  withinMs: number;
  /** How long no more than that must match before the alarm is cleared; default one minute. */
  clearAfterMs: number;
  /** Since when it is raised. */
  raisedAt: Date | null;
  /** How many runs matched at the last count. */
  runs: number | null;
  /** How many runs there were at the last count, for `share`. */
  allRuns: number | null;
  /** When a worker last counted. */
  countedAt: Date | null;
  /** Since when it is paused. */
  pausedAt: Date | null;
  /** When it was first set. */
  createdAt: Date;
  /** When it was last changed. */
  updatedAt: Date;
  /** `operator`, `key:<id>` or `cli:<user>`. */
  updatedBy: string;
}

export interface Alarms {
  /** List the alarms. A key of a tenant sees the alarms of the tenant. */
  list(): Promise<ListedAlarm[]>;
  /**
   * Get an alarm.
   *
   * @throws LanefoldError `alarm_not_found`
   */
  get(
    name: string,
    options?: {
      /** The tenant of the alarm; default: the tenant of the library, else `default`. */
      tenant?: string;
    },
  ): Promise<ListedAlarm>;
  /**
   * Sets or changes an alarm: workers count the runs that match its filter, and webhooks get `alarm.raised` and
   * `alarm.cleared`, each once. Setting it to what it is changes nothing. A change keeps its counts and clears it;
   * a paused alarm stays paused.
   *
   * @example
   * await lanefold.alarms.set('many-failures', { filter: { status: 'failed' }, moreThan: 10, withinMs: 600_000 });
   *
   * @throws LanefoldError `invalid_input`
   */
  set(
    name: string,
    definition: AlarmDefinition,
    options?: {
      /** The tenant of the alarm; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedAlarm>;
  /**
   * Remove an alarm and its counts.
   *
   * @throws LanefoldError `alarm_not_found`
   */
  remove(
    name: string,
    options?: {
      /** The tenant of the alarm; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<void>;
  /**
   * Pause an alarm. It is cleared, and not counted until it is resumed.
   *
   * @throws LanefoldError `alarm_not_found`
   */
  pause(
    name: string,
    options?: {
      /** The tenant of the alarm; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedAlarm>;
  /**
   * Resume a paused alarm.
   *
   * @throws LanefoldError `alarm_not_found`
   */
  resume(
    name: string,
    options?: {
      /** The tenant of the alarm; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedAlarm>;
  /**
   * List what an alarm counted over time, the oldest first. One item for each five minutes in which a worker has
   * counted; kept for a week.
   *
   * @throws LanefoldError `alarm_not_found`
   */
  counts(
    name: string,
    options?: {
      /** The tenant of the alarm; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Only counts since then; default: of the last day. */
      since?: Date;
    },
  ): Promise<AlarmCount[]>;
}

import type { Capabilities } from '../worker/find-lacking.ts';
import type { QueuedRun } from './queued-run.ts';

/** Which runs a sweep looks after, and how long it leaves them alone. */
export interface SweepLimits {
  /** Runs given to the queue more recently than this are left alone. */
  graceMs: number;
  /** Cancelled runs may take this long to stop. */
  cancelGraceMs: number;
  queuePrefix: string;
  /** Runs of another fleet are due only after this long without a sign of that fleet. */
  adoptMs: number;
  /** Agents whose runs may be taken over from another fleet, if this worker knows their strategy. */
  adoptable: readonly string[];
  /** No run that is due was given to the queue before: see `findOldestDue`. */
  since?: string;
  /** What this worker knows. */
  known: Capabilities;
  /** Runs wait this long for a worker that can execute them; undefined: without limit. */
  unknownAgentMs?: number | undefined;
  /** What no worker could execute for as long: `key` of `findUnattendedNeeds`. */
  unattended?: readonly string[];
}

/** SQL: the strategy that executes a run: its own, or the one that its own has chosen. */
export const executing = `coalesce(options #>> '{selection,strategy}', strategy)`;

/** SQL: the version that a run wants, as `_wanted_version` says; readers may not call functions. */
export const wantedVersion = (options: string): string =>
  `case when jsonb_typeof(${options} -> 'pinned') = 'string' then ${options} ->> 'pinned' else ${options} ->> 'version' end`;

/** A run that no worker seems to work on. */
export interface DueRun extends QueuedRun {
  /** A worker has taken its job before: its turn had come. */
  taken: boolean;
}

import type { ReadyAgent } from '../agent/definition/registry.ts';
import type { RunOptions } from '../agent/definition/run-options.ts';
import type { BudgetShare } from '../runs/limiter/run-budget.ts';
import type { Database } from '../database/postgres/pool.ts';
import type { Telemetry } from '../runs/telemetry/telemetry.ts';

/** The worker that a feature takes part in. */
export interface WorkerSite {
  db: Database;
  /** The agents of this process. */
  agents: readonly string[];
  /** Its versions of them, as `agent@label` and `agent@id`. */
  versions: readonly string[];
  /** The prefix of a queue that belongs to this process alone; null: it shares its queue, and looks after shared work too. */
  privatePrefix: string | null;
  sweepMs: number;
  /** Days after which ended work is deleted; 0: never. */
  retentionDays: number;
  telemetry: Pick<Telemetry, 'attemptEnded' | 'slotSettled'>;
  onError: (error: unknown) => void;
}

/** What the worker itself or a feature does in a worker beside its runs. */
export interface WorkerPart {
  /** What to do with the payload of a notification, by channel; without a payload, notifications may have been missed. */
  channels?: Readonly<Record<string, (payload: string | undefined) => void>>;
  /**
   * Work that is repeated in the background: `everyMs` (default: a sweep) after it last ended, never more often than sweeps,
   * and after a pause of at least `pauses` (default 10) times as long as it took.
   */
  sweeps?: readonly { everyMs?: number; pauses?: number; work: () => Promise<unknown> }[];
  /** The agent of a run, which this feature may change. */
  agentOf?: (agent: ReadyAgent, options: RunOptions) => Promise<ReadyAgent>;
  /** What pays for a run; undefined: nothing of this feature. */
  shareOf?: (options: RunOptions) => Promise<BudgetShare | undefined>;
  /** A run of this worker has ended; must not throw. */
  runEnded?: (options: RunOptions) => void;
  /** Stops; resolves once nothing is in progress. */
  close?: () => Promise<unknown>;
}

/** Begins what a feature does in a worker that has just started. */
export type StartPart = (site: WorkerSite) => WorkerPart;

/** What all features do to runs. */
export const joined = (
  parts: readonly WorkerPart[],
): Required<Pick<WorkerPart, 'agentOf' | 'shareOf' | 'runEnded'>> => ({
  async agentOf(agent, options) {
    let changed = agent;
    for (const part of parts) changed = (await part.agentOf?.(changed, options)) ?? changed;
    return changed;
  },
  async shareOf(options) {
    for (const part of parts) {
      const share = await part.shareOf?.(options);
      if (share) return share;
    }
    return undefined;
  },
  runEnded(options) {
    for (const part of parts) part.runEnded?.(options);
  },
});

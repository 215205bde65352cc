import type { ReadyAgent } from '../agent/definition/registry.ts';
import type { RunOptions } from '../agent/definition/run-options.ts';
import type { BudgetShare } from '../runs/limiter/run-budget.ts';
import type { Database } from '../database/postgres/pool.ts';
import type { JsonObject } from '../agent/context/message.ts';
import type { ProviderOutcome } from '../agent/models/failure.ts';
import type { RunQueue } from '../runs/queue/queue.ts';
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
  /** Where the jobs of its fleet are. */
  queue: Pick<RunQueue, 'prefix' | 'queueOf' | 'wake'>;
  sweepMs: number;
  /** Days after which ended work is deleted; 0: never. */
  retentionDays: number;
  telemetry: Pick<Telemetry, 'attemptEnded' | 'slotSettled' | 'circuitTurned'>;
  onError: (error: unknown) => void;
}

/** A call of a model that may be made. */
export interface GuardedCall {
  /** The model has begun to answer. */
  answers(): void;
  /**
   * The call has ended so, or nothing is known of that; nothing after the first call counts. Returns what its run waits for instead
   * of calling the model again soon. Must not reject.
   */
  ended(outcome: ProviderOutcome | undefined): Promise<CallDeferred | undefined>;
}

/** A model is not to be called now. Its run can wait without a worker; nothing was reserved or lost. */
export class CallDeferred extends Error {
  constructor(
    /** What the row of the run shows as `limited_by`. */
    readonly waitsFor: JsonObject,
    /** When the model may be called, in ms from now; undefined: the time is open. */
    readonly delayMs: number | undefined,
    /** Called once the run waits: whether it can go on already. */
    readonly isOver: () => Promise<boolean>,
    /** The call that failed, if there was one. */
    readonly error?: JsonObject,
  ) {
    super('The model is not called for now, because its provider fails.');
    this.name = 'CallDeferred';
  }
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
  /** Asked before each call of a model; undefined: this feature has no say in it. */
  attemptAt?: (model: string) => Promise<GuardedCall | CallDeferred | undefined>;
  /** A run of this worker has ended; must not throw. */
  runEnded?: (options: RunOptions) => void;
  /** Whether something that it has begun is still in progress after its sweeps. */
  isBusy?: () => boolean;
  /** Stops; resolves once nothing is in progress. */
  close?: () => Promise<unknown>;
}

/** Begins what a feature does in a worker that has just started. */
export type StartPart = (site: WorkerSite) => WorkerPart;

/** What all features do to runs. */
export const joined = (
  parts: readonly WorkerPart[],
): Required<Pick<WorkerPart, 'agentOf' | 'shareOf' | 'attemptAt' | 'runEnded'>> => ({
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
  async attemptAt(model) {
    for (const part of parts) {
      const attempt = await part.attemptAt?.(model);
      if (attempt) return attempt;
    }
    return undefined;
  },
  runEnded(options) {
    for (const part of parts) part.runEnded?.(options);
  },
});

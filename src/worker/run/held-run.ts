import { LanefoldError, isLanefoldError, type ErrorCode } from '../../base/errors.ts';
import { isNodeUnreachable, isTransient } from '../../database/postgres/errors.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import type { RunBudget } from '../../runs/limiter/run-budget.ts';
import type { Answered } from '../../agent/strategies/turn/events.ts';
import type { RunLimits } from '../../runs/limiter/run-limits.ts';
import { silentRun, type RunTelemetry } from '../../runs/telemetry/telemetry.ts';
import { delay } from '../../base/common/timer.ts';

const codes: readonly ErrorCode[] = ['lease_lost', 'step_ahead', 'run_not_found', 'thread_not_found', 'thread_erased'];

/**
 * The run no longer belongs to this worker: another worker has taken it, or an asynchronous failover has lost its
 * commits, its claim or the whole run. This worker must write nothing more.
 */
export const isLost = (error: unknown): boolean => codes.some((code) => isLanefoldError(error, code));

/** How long a commit is retried: longer than a restart of PostgreSQL takes. */
const persistForMs = 60_000;

/**
 * A run under this worker's lease. `signal` aborts when the lease is lost, a cancel was requested or the run is
 * released; everything the run does observes it.
 */
export class HeldRun {
  readonly #controller = new AbortController();
  /** On this process's clock; never later than the database's deadline. */
  #deadline: number;
  step = 0;
  lease = 0;
  /** Observes the run from its claim on. */
  telemetry: RunTelemetry = silentRun;
  /** Whether other runs may be waiting for this one's slot: then it does not wait for its node beyond its lease. */
  isSlotWanted = (): boolean => false;
  /** Set while limits may apply. */
  limits?: RunLimits;
  /** Set once the run is driven: how much of its time limit is left, in ms. */
  clock?: { readonly leftMs: number | undefined };
  /** Set if the run has its own budget. */
  budget?: RunBudget;
  /** Limits that were passed since the last step of the run: its next step writes them to the trace. */
  reached: JsonObject[] = [];
  /** The limit that refused a call, and ends the run if that was its own. */
  exhausted?: JsonObject;

  constructor(
    readonly threadId: string,
    readonly runId: string,
    readonly leaseMs: number,
    askedAt: number,
  ) {
    this.#deadline = askedAt + leaseMs;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Extends the deadline, counted from when the renewal was requested: a slow answer only ever shortens the lease. */
  renewed(askedAt: number): void {
    this.#deadline = Math.max(this.#deadline, askedAt + this.leaseMs);
  }

  /** Time since the last renewal, in ms. */
  get leaseAgeMs(): number {
    return performance.now() - (this.#deadline - this.leaseMs);
  }

  lose(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Call immediately before a model call or a tool: a worker that slept past its lease starts nothing. */
  assertHeld(): void {
    this.signal.throwIfAborted();
    if (performance.now() < this.#deadline) return;
    const error = new LanefoldError('lease_lost', `The lease of run ${this.runId} expired before it was renewed.`, {
      hint: 'Another worker continues the run.',
    });
    this.lose(error);
    throw error;
  }

  /**
   * Executes a fenced write. It also renews the lease if `renews` returns true for its result. Transient errors (a
   * broken connection, a deadlock, a full disk) are retried: fenced writes are idempotent.
   */
  async persist<T>(write: () => Promise<T>, renews: (result: T) => boolean = () => true): Promise<T> {
    const startedAt = performance.now();
    const giveUpAt = startedAt + persistForMs;
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
      const askedAt = performance.now();
      try {
        const result = await write();
        if (renews(result)) this.renewed(askedAt);
        this.telemetry.wrote(performance.now() - startedAt);
        return result;
      } catch (error) {
        if (!isTransient(error) || this.signal.reason instanceof Released || performance.now() > giveUpAt) throw error;
        const isExpired = performance.now() > this.#deadline;
        if (isNodeUnreachable(error) && isExpired && this.isSlotWanted()) throw error;
        await delay(pauseMs);
      }
    }
  }
}

/** Abort reason: a cancel was requested. */
export class CancelRequested extends Error {
  /** @param answer what the model had written by then */
  constructor(readonly answer?: Answered) {
    super('The run was cancelled.');
    this.name = 'CancelRequested';
  }
}

/**
 * Abort reason: the worker stops, or makes room for a run that must run alone. The run is intact, and another worker
 * continues it.
 */
export class Released extends Error {
  constructor() {
    super('The worker is stopping; another one continues the run.');
    this.name = 'Released';
  }
}

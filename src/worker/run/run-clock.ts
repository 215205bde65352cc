import type { StrategyEvent, SpentSoFar } from '../../agent/strategies/machine.ts';
import type { RunProgress } from './run-end.ts';
import { deadline } from '../../base/common/timer.ts';

/** How long a run has taken since it started, across all its workers, and how long it may take. */
export class RunClock {
  readonly #startedAt: number;
  readonly #maxDurationMs: number | undefined;

  constructor(elapsedMs: number, maxDurationMs: number | undefined) {
    this.#startedAt = performance.now() - elapsedMs;
    this.#maxDurationMs = maxDurationMs;
  }

  get elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  /** How much of its time limit is left, in ms; undefined without one. */
  get leftMs(): number | undefined {
    return this.#maxDurationMs === undefined ? undefined : Math.max(0, this.#maxDurationMs - this.elapsedMs);
  }

  spent(progress: RunProgress): SpentSoFar {
    return { tokens: progress.usage?.total_tokens ?? 0, elapsedMs: this.elapsedMs };
  }

  /**
   * Makes a call under the run's time limit: when the limit is reached, the call's signal aborts and the outcome is
   * `time_up`.
   */
  async within<Outcome>(
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome | Extract<StrategyEvent, { type: 'time_up' }>> {
    const left = this.leftMs;
    if (left === undefined) return call(signal);
    if (left === 0) return { type: 'time_up' };
    const timer = deadline(left, { ref: false });
    try {
      return await call(AbortSignal.any([signal, timer.signal]));
    } catch (error) {
      if (signal.aborted || !timer.signal.aborted) throw error;
      return { type: 'time_up' };
    } finally {
      timer.cancel();
    }
  }
}

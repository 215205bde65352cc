import { ModelError } from '../../agent/models/model-error.ts';
import { GuardFailure } from '../../agent/tools/judge-call.ts';
import { cleanText } from '../../base/checks/values.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { Json } from '../../agent/context/message.ts';
import type { RunError } from '../../agent/strategies/records.ts';
import type { QueuedRun } from '../../database/store/run/queued-run.ts';
import type { Run } from '../../database/store/run/run.ts';
import { type Usage, addUsage } from '../../agent/context/message.ts';
import type { SpentSoFar, StrategyEvent } from '../../agent/strategies/machine.ts';
import { deadline } from '../../base/common/timer.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';

/** How far a run has come. */
export interface RunProgress {
  /** Of the last committed step. */
  iteration: number;
  usage: Usage | undefined;
  /** The part of `usage` spent on other models than the run's, by model. */
  otherUsage?: Record<string, Usage> | undefined;
}

export const progressOf = ({ iteration, usage, other_usage: otherUsage }: Claim): RunProgress => ({
  iteration,
  usage: usage ?? undefined,
  ...(otherUsage ? { otherUsage } : {}),
});

/**
 * Adds the tokens of a model call, or of a failed attempt, to those of the run and, where another model than the run's was
 * asked, to that model's.
 */
export function addUsed(progress: Pick<RunProgress, 'usage' | 'otherUsage'>, event: StrategyEvent): void {
  const { usage, model } = usedBy(event);
  // an iteration counts one call, whatever attempts it took
  const calls = event.type === 'model_failed' ? 0 : 1;
  if (!usage) return;
  progress.usage = addUsage(progress.usage, usage);
  if (model === undefined) return;
  const others = progress.otherUsage ?? {};
  progress.otherUsage = { ...others, [model]: addUsage(others[model], { ...usage, calls }) };
}

/** `model` is set only where it is not the run's. */
function usedBy(event: StrategyEvent): { usage?: Usage | undefined; model?: string | undefined } {
  if (event.type === 'model_answered')
    return { usage: event.turn.usage, model: event.refs?.['model'] as string | undefined };
  const { type } = event;
  return type === 'model_failed' || type === 'output_repaired' || type === 'compacted' ? event : {};
}

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

/** How a run has ended, or that it waits or was handed over: this worker is done with it. */
export interface RunEnd {
  type: 'ended';
  status: string;
  /** The final answer, if any. */
  answer?: Json;
  /** The limit that ended it before it had an answer. */
  limit?: string;
  error?: RunError;
  /** Tool calls of a suspended run that need approval, as `1.0 pay`. */
  approvals?: string[];
  iteration: number;
  usage?: Usage;
  /** The part of `usage` spent on other models than the run's, by model. */
  otherUsage?: Record<string, Usage>;
  promoted?: QueuedRun;
  /** The ended run, if this process waits for it and the last step returned it. */
  run?: Run;
  /** Its context has reached the policy's `compactAt` share of the budget, so the lane should be compacted. */
  full?: true;
}

export const toRunEnd = (
  { iteration, usage, otherUsage }: RunProgress,
  { status, promoted, run }: { status: string; promoted?: QueuedRun; run?: Run },
  {
    answer,
    limit,
    error,
    approvals,
  }: { answer?: Json | undefined; limit?: string | undefined; error?: RunError; approvals?: string[] | undefined } = {},
): RunEnd => ({
  type: 'ended',
  status,
  iteration,
  ...(answer === undefined ? {} : { answer }),
  ...(limit === undefined ? {} : { limit }),
  ...(error ? { error } : {}),
  ...(approvals ? { approvals } : {}),
  ...(usage ? { usage } : {}),
  ...(otherUsage ? { otherUsage } : {}),
  ...(promoted ? { promoted } : {}),
  ...(run ? { run } : {}),
});

/** What a run says of the error that ended it. */
export function toRunError(error: unknown): RunError {
  if (error instanceof GuardFailure) return { type: 'tool_guardrail', message: cleanText(error.message) };
  if (error instanceof ModelError) return { type: error.errorType, message: error.message };
  if (error instanceof LanefoldError) return { type: error.code, message: error.message };
  return { type: 'runtime', message: cleanText(error instanceof Error ? error.message : String(error)) };
}

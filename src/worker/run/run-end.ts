import { limitEvents } from '../../runs/limiter/reached.ts';
import type { Json, Usage } from '../../agent/context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import { ModelError } from '../../agent/models/errors/model-error.ts';
import { finishRun } from '../../database/store/run/finish-run.ts';
import type { QueuedRun } from '../../database/store/run/queued-run.ts';
import type { Run } from '../../database/store/run/run.ts';
import type { EventDraft } from '../../agent/strategies/machine.ts';
import type { RunError } from '../../agent/strategies/run-error.ts';
import { GuardFailure } from '../../agent/tools/guard.ts';
import { cleanText } from '../../base/checks/text.ts';
import type { RunDependencies } from './dependencies.ts';
import type { HeldRun } from './held-run.ts';
import { redactEvents } from './redact-step.ts';

/** How a run has ended, or that it is suspended. */
export interface RunEnd {
  status: string;
  /** The final answer, if any. */
  answer?: Json;
  error?: RunError;
  /** Tool calls of a suspended run that need approval, as `1.0 pay`. */
  awaiting?: string[];
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

/** How far a run has come. */
export interface RunProgress {
  /** Of the last committed step. */
  iteration: number;
  usage: Usage | undefined;
  /** The part of `usage` spent on other models than the run's, by model. */
  otherUsage?: Record<string, Usage> | undefined;
}

export const toRunEnd = (
  { iteration, usage, otherUsage }: RunProgress,
  { status, promoted, run }: { status: string; promoted?: QueuedRun; run?: Run },
  { answer, error, awaiting }: { answer?: Json | undefined; error?: RunError; awaiting?: string[] | undefined } = {},
): RunEnd => ({
  status,
  iteration,
  ...(answer === undefined ? {} : { answer }),
  ...(error ? { error } : {}),
  ...(awaiting ? { awaiting } : {}),
  ...(usage ? { usage } : {}),
  ...(otherUsage ? { otherUsage } : {}),
  ...(promoted ? { promoted } : {}),
  ...(run ? { run } : {}),
});

/** Ends a run that a strategy or an error has failed, or that was cancelled. */
export async function endAbnormally(
  deps: RunDependencies,
  run: HeldRun,
  progress: RunProgress,
  status: 'failed' | 'cancelled',
  cause: RunError,
  events?: EventDraft[],
): Promise<RunEnd> {
  const error = { ...cause, message: deps.redactor.text(cause.message) };
  const ends = cause.type === 'budget_exhausted';
  const shown = [...limitEvents(run, progress.iteration, ends), ...(events ?? [])];
  const end = {
    status,
    reason: status === 'failed' ? 'error' : 'cancelled',
    error,
    ...(progress.usage ? { usage: progress.usage } : {}),
    ...(progress.otherUsage ? { other_usage: progress.otherUsage } : {}),
    ...(shown.length > 0 ? { events: redactEvents(deps.redactor, shown) } : {}),
  };
  const result = await run.persist(() => finishRun(deps.db, run, end));
  return toRunEnd(progress, result, { error });
}

export function toRunError(error: unknown): RunError {
  if (error instanceof GuardFailure) return { type: 'tool_guardrail', message: cleanText(error.message) };
  if (error instanceof ModelError) return { type: error.errorType, message: error.message };
  if (error instanceof LanefoldError) return { type: error.code, message: error.message };
  return { type: 'runtime', message: cleanText(error instanceof Error ? error.message : String(error)) };
}

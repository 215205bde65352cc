import { endedByLimit } from '../../agent/strategies/limits.ts';
import type { Json, ToolCall } from '../../agent/context/message.ts';
import type { EventDraft, StrategyDecision, StrategyState } from '../../agent/strategies/machine.ts';
import type { RunError } from '../../agent/strategies/records.ts';
import { llmCompleted, assistantEntry, type Answered, type TurnState } from '../../agent/strategies/turn/events.ts';
import { isTransient } from '../../database/postgres/errors.ts';
import type { CommitResult } from '../../database/store/run/commit-step.ts';
import { finishRun } from '../../database/store/run/finish-run.ts';
import { suspendRun } from '../../database/store/wait/suspend-run.ts';
import { limitEvents } from '../../runs/limiter/refusals.ts';
import { LimitReached } from '../../runs/limiter/run-limits.ts';
import { CallDeferred } from '../part.ts';
import { commit, redactEvents } from './commit.ts';
import type { RunDependencies } from './dependencies.ts';
import { fullness } from './fit-context.ts';
import { CancelRequested, isLost, Released, type HeldRun } from './held-run.ts';
import type { ActiveRun } from './open-run.ts';
import { addUsed, toRunEnd, toRunError, type RunEnd, type RunProgress } from './progress.ts';
import { ToolsElsewhere } from './tools-elsewhere.ts';

export const isEnd = (result: object | undefined): result is RunEnd =>
  result !== undefined && 'type' in result && result.type === 'ended';

/** The end of a run that the step of a decision has finished. */
export function endByStep(active: ActiveRun, decision: StrategyDecision, committed: CommitResult): RunEnd {
  const { result, error, reason = null } = decision.step?.finish ?? {};
  const unanswered = committed.status === 'completed' && result === null && endedByLimit(reason);
  const end = toRunEnd(active.progress, committed, {
    answer: earlierText(decision) === '' ? (answerIn(decision) ?? result) : result,
    ...(error && committed.status === 'failed' ? { error } : {}),
    ...(unanswered ? { limit: reason! } : {}),
  });
  return isFull(active) ? { ...end, full: true } : end;
}

/** The answer that the step of a decision adds to the log. */
export const answerIn = ({ step }: StrategyDecision): Json | undefined => {
  const last = step?.entries?.at(-1);
  return last?.role === 'assistant' ? last.payload['content'] : undefined;
};

/** The text of the cut answers that the answer of a decision continues. */
export const earlierText = ({ memory }: StrategyDecision): string => (typeof memory === 'string' ? memory : '');

function isFull({ agent, claim, context }: ActiveRun): boolean {
  const { compact_at: share } = agent.contextPolicy ?? {};
  return share !== undefined && !claim.options?.compaction && (fullness(context) ?? 0) >= share;
}

/**
 * Ends a run that was cancelled or has failed.
 *
 * @throws the error, if it only stops this worker from driving the run: a failing database, a lost lease, an interruption
 */
export async function endByError(
  deps: RunDependencies,
  run: HeldRun,
  progress: RunProgress,
  error: unknown,
): Promise<RunEnd> {
  if (error instanceof CancelRequested)
    return endAbnormally(deps, run, progress, 'cancelled', { type: 'cancelled', message: error.message });
  if (isTransient(error) || isLost(error) || isInterruption(error)) throw error;
  return endAbnormally(deps, run, progress, 'failed', toRunError(error));
}

/** The run is intact, and continues later or elsewhere. */
export const isInterruption = (error: unknown): boolean =>
  error instanceof Released ||
  error instanceof LimitReached ||
  error instanceof CallDeferred ||
  error instanceof ToolsElsewhere;

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

/** Ends a cancelled run with what its last call had written, as with an answer that came too late. */
export async function endCutShort(
  deps: RunDependencies,
  active: ActiveRun,
  state: StrategyState,
  answer: Answered,
): Promise<RunEnd> {
  const { facts, progress } = active;
  addUsed(progress, answer);
  const error = { type: 'cancelled', message: 'user_cancelled' };
  const step = {
    entries: [assistantEntry(facts, state as TurnState, answer, [])],
    events: [llmCompleted(facts, state as TurnState, answer, 'final_answer')],
    finish: { status: 'cancelled' as const, reason: 'cancelled', error },
  };
  return toRunEnd(progress, await commit(deps, active, state, step), { error });
}

/** Calls of a round wait; the outcomes of the others are stored. */
export interface CallsWait {
  type: 'calls_wait';
  round: number;
  calls: readonly ToolCall[];
  /** Indices of the calls that need approval. */
  approvals: number[];
}

/** Suspends a run whose calls wait; this worker is done with it. */
export async function suspend(
  deps: RunDependencies,
  { run, agent, progress }: ActiveRun,
  { round, calls, approvals }: CallsWait,
): Promise<RunEnd> {
  const suspension = { round, approvals, timeoutMs: agent.approvalTimeoutMs };
  const {
    step,
    status,
    job,
    cancel_requested: cancelled,
  } = await run.persist(() => suspendRun(deps.db, run, suspension));
  run.step = step;
  if (cancelled) throw new CancelRequested();
  // the acknowledgement of the commit was lost, and the run was cancelled before the retry
  if (status === 'cancelled') return toRunEnd(progress, { status });
  // The status may have changed since: the waits may be over and the run queued for another worker.
  const names = approvals.map((index) => `${round}.${index} ${calls[index]!.name}`);
  return toRunEnd(progress, { status: 'suspended', ...(job ? { promoted: job } : {}) }, { approvals: names });
}

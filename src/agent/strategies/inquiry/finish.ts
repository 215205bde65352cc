import type { StrategyDecision, SpentSoFar, StepDraft } from '../machine.ts';
import { progressOf } from './fold.ts';
import type { StrategyCause, StrategyEnding, StrategyDefinition } from './inquiry.ts';
import type { InquiryState, InquiryProgress } from './state.ts';

type Decided<Memory> = StrategyDecision<InquiryState, InquiryProgress<Memory>>;

/** Ends the run with the strategy's result, whose `answer` becomes the assistant message of the lane. */
export function finishInquiry<Memory>(
  state: InquiryState,
  memory: InquiryProgress<Memory>,
  { reason, answer, result, error, nodes = [] }: StrategyEnding,
  step: StepDraft,
): Decided<Memory> {
  const answered = !error && answer !== null && answer.trim() !== '';
  const entry = { role: 'assistant' as const, payload: { content: answer }, refs: { iteration: state.iteration } };
  return {
    state,
    memory,
    step: {
      ...step,
      ...(nodes.length > 0 ? { nodes: [...(step.nodes ?? []), ...nodes] } : {}),
      ...(answered ? { entries: [...(step.entries ?? []), entry] } : {}),
      finish: error ? { status: 'failed', reason, result, error } : { status: 'completed', reason, result },
    },
    command: { type: 'finish' },
  };
}

/** Ends the run before the strategy has finished, with the best result it has. */
export function endEarly<Memory>(
  strategy: StrategyDefinition<Memory>,
  state: InquiryState,
  progress: InquiryProgress<Memory>,
  cause: StrategyCause,
  step: StepDraft,
  spent?: SpentSoFar,
): Decided<Memory> {
  const at = progressOf(progress);
  const ending = strategy.best(progress.memory, cause, {
    ...at,
    elapsedMs: Math.max(at.elapsedMs, spent?.elapsedMs ?? 0),
  });
  return finishInquiry(state, progress, { ...ending, ...(cause.error ? { error: cause.error } : {}) }, step);
}

import type { RunFacts, SpentSoFar } from './machine.ts';
import type { RunError } from './records.ts';

/** Why a run may not make model call number `calls`; undefined if it may. */
export function limitReached(run: RunFacts, calls: number, spent: SpentSoFar | undefined): string | undefined {
  if (calls > run.maxIterations) return 'max_iterations';
  if (run.maxTotalTokens !== undefined && (spent?.tokens ?? 0) >= run.maxTotalTokens) return 'max_total_tokens';
  if (run.maxDurationMs !== undefined && (spent?.elapsedMs ?? 0) >= run.maxDurationMs) return 'max_duration';
  return undefined;
}

/** Why a run ends that may not make its next call; undefined: the call has failed. */
export const budgetReached = ({ type }: RunError): string | undefined =>
  type === 'budget_exhausted' ? type : undefined;

/** Whether a run with this reason of its end was stopped by a limit. */
export const endedByLimit = (reason: string | null): boolean => reason !== null && limits.includes(reason);

const limits = ['max_iterations', 'max_total_tokens', 'max_duration', 'budget_exhausted'];

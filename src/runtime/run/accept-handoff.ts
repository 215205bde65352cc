import type { ReadyAgent } from '../../agents/registry.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import type { CallOutcome } from '../../strategies/machine.ts';
import { errorMessage } from '../../tools/error-message.ts';
import type { HandoffRequest, NextAgent } from '../../tools/handoff.ts';
import type { ToolOutcome } from '../../tools/outcome.ts';
import type { RunDependencies } from './dependencies.ts';

/** The outcome of a call that hands the run over, or why it cannot. */
export function acceptHandoff(
  { agents }: RunDependencies,
  agent: ReadyAgent,
  claim: Claim,
  outcome: ToolOutcome & { handoff: HandoffRequest },
): ToolOutcome {
  const { handoff, attempts, durationMs, offered } = outcome;
  const spent = { attempts, durationMs, ...(offered && { offered }) };
  const { agent: next, context = 'whole' } = handoff;
  const refused = (type: string, message: string): ToolOutcome => ({
    ...errorMessage({ type, message, retryable: false }),
    ...spent,
  });
  if (!agents.has(next)) return refused('unknown_agent', `The agent ${next} does not exist here`);
  if (next === claim.agent) return refused('invalid_handoff', `The agent ${next} has the run already`);
  if (claim.strategy !== 'react' || agents.get(next).strategy !== 'react')
    return refused('invalid_handoff', 'Only agents with the strategy react can hand runs over and take them');
  const before = claim.options?.handoffs?.length ?? 0;
  if (before >= agent.maxHandoffs) return refused('too_many_handoffs', `A run is handed over ${before} times at most`);
  const { model, instructions: prompt } = agents.get(next);
  return {
    next: { agent: next, context, model, prompt },
    ...{ status: 'ok', content: JSON.stringify({ handed_to: next }), ...spent },
    refs: { handoff: { agent: next, context } },
  };
}

/** The handoff of a round that has ended: that of its first call that handed the run over. */
export const handoffIn = (outcomes: readonly (CallOutcome & Pick<ToolOutcome, 'next'>)[]): NextAgent | undefined =>
  outcomes.find(({ next }) => next)?.next;

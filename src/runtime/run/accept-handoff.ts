import { omitUndefined } from '../../common/omit-undefined.ts';
import type { ReadyAgent } from '../../agents/registry.ts';
import { storedOption } from '../../policy/read-policy.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import type { CallOutcome } from '../../strategies/machine.ts';
import { errorMessage } from '../../tools/error-message.ts';
import type { HandoffRequest, NextAgent } from '../../tools/handoff.ts';
import type { ToolOutcome } from '../../tools/outcome.ts';
import type { RunDependencies } from './dependencies.ts';

/** Why a run cannot be handed over. */
export interface HandoffRefusal {
  type: 'unknown_agent' | 'invalid_handoff' | 'too_many_handoffs';
  message: string;
}

/** The outcome of a call that hands the run over, or why it cannot. */
export function acceptHandoff(
  deps: RunDependencies,
  agent: ReadyAgent,
  claim: Claim,
  outcome: ToolOutcome & { handoff: HandoffRequest },
): ToolOutcome {
  const { handoff, attempts, durationMs, offered } = outcome;
  const spent = { attempts, durationMs, ...(offered && { offered }) };
  const refused = refusalOf(deps, agent, claim, handoff);
  if (refused) return { ...errorMessage({ ...refused, retryable: false }), ...spent };
  const next = nextAgent(deps, handoff);
  return {
    next,
    ...{ status: 'ok', content: JSON.stringify({ handed_to: next.agent }), ...spent },
    refs: { handoff: { agent: next.agent, context: next.context } },
  };
}

/** Why the run of a claim cannot be handed over as requested; undefined if it can. */
export function refusalOf(
  { agents }: RunDependencies,
  agent: ReadyAgent,
  claim: Claim,
  { agent: next }: HandoffRequest,
): HandoffRefusal | undefined {
  if (!agents.has(next)) return { type: 'unknown_agent', message: `The agent ${next} does not exist here` };
  if (next === claim.agent) return { type: 'invalid_handoff', message: `The agent ${next} has the run already` };
  if (claim.strategy !== 'react' || agents.get(next).strategy !== 'react') {
    const message = 'Only agents with the strategy react can hand runs over and take them';
    return { type: 'invalid_handoff', message };
  }
  const before = claim.options?.handoffs?.length ?? 0;
  if (before < agent.maxHandoffs) return undefined;
  return { type: 'too_many_handoffs', message: `A run is handed over ${before} times at most` };
}

/** The agent that goes on, as this worker knows it. */
export function nextAgent(
  { agents }: RunDependencies,
  { agent, context = 'whole', contextPolicy, ask }: HandoffRequest,
): NextAgent {
  const { model, instructions: prompt, resume, version } = agents.get(agent);
  const policy = contextPolicy === undefined ? undefined : storedOption(contextPolicy);
  return {
    agent,
    context,
    model,
    prompt,
    ...omitUndefined({ ask, context_policy: policy, pinned: resume === 'pinned' ? version.id : undefined }),
  };
}

/** The handoff of a round that has ended: that of its first call that handed the run over. */
export const handoffIn = (outcomes: readonly (CallOutcome & Pick<ToolOutcome, 'next'>)[]): NextAgent | undefined =>
  outcomes.find(({ next }) => next)?.next;

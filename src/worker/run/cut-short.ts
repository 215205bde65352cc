import type { ReadyAgent } from '../../agent/definition/registry.ts';
import { cleanText } from '../../base/checks/text.ts';
import type { ModelTurn } from '../../agent/context/message.ts';
import { toUsage } from '../../agent/models/answer/usage.ts';
import { estimateUsage } from '../../agent/models/counting/estimate-usage.ts';
import type { RunFacts, StrategyState } from '../../agent/strategies/machine.ts';
import { llmCompleted } from '../../agent/strategies/turn/events.ts';
import { assistantEntry, type Answered } from '../../agent/strategies/turn/model-answer.ts';
import type { TurnState } from '../../agent/strategies/turn/state.ts';
import type { AnswerSoFar } from '../../runs/streams/publish-deltas.ts';
import type { ActiveRun } from './active-run.ts';
import { commit } from './commit.ts';
import { addUsed } from './decide.ts';
import type { RunDependencies } from './dependencies.ts';
import type { PreparedCall } from './prepare-call.ts';
import { toRunEnd, type RunEnd, type RunProgress } from './run-end.ts';

/**
 * What a model had written when its call was cancelled, as its answer: people have read it, and the next question may be
 * about it. Undefined if that is nothing. Its tokens are estimates, because the provider has not counted them yet.
 */
export function cutShort(
  { counting }: Pick<RunDependencies, 'counting'>,
  agent: ReadyAgent,
  callId: string,
  call: PreparedCall,
  written: AnswerSoFar,
): Answered | undefined {
  const [text, thinking] = [cleanText(written.text), cleanText(written.thinking)];
  if (text.trim() === '' && thinking.trim() === '') return undefined;
  const turn: ModelTurn = {
    text,
    toolCalls: [],
    finishReason: 'cancelled',
    usage: toUsage(undefined),
    ...(thinking === '' ? {} : { thinking }),
    ...(text === written.text && thinking === written.thinking ? {} : { cleaned: true }),
  };
  return {
    type: 'model_answered',
    callId,
    turn: { ...turn, usage: estimateUsage(counting, call, turn) },
    contextHash: call.contextHash,
    refs: { ...call.refs, agent_version: agent.version.id },
  };
}

/** Ends a cancelled run with what its last call had written, as with an answer that came too late. */
export async function endCutShort(
  deps: RunDependencies,
  active: ActiveRun,
  facts: RunFacts,
  state: StrategyState,
  answer: Answered,
  progress: RunProgress,
): Promise<RunEnd> {
  addUsed(progress, answer);
  const error = { type: 'cancelled', message: 'user_cancelled' };
  const step = {
    entries: [assistantEntry(facts, state as TurnState, answer, [])],
    events: [llmCompleted(facts, state as TurnState, answer, 'final_answer')],
    finish: { status: 'cancelled' as const, reason: 'cancelled', error },
  };
  return toRunEnd(progress, await commit(deps, active, state, step, progress, false), { error });
}

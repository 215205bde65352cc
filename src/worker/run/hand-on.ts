import type { ReadyAgent } from '../../agent/definition/registry.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { StrategyDecision } from '../../agent/strategies/machine.ts';
import { nextIteration, type TurnState } from '../../agent/strategies/turn/state.ts';
import { Handoff, type NextAgent } from '../../agent/tools/handoff.ts';
import { nextAgent, refusalOf } from './accept-handoff.ts';
import type { ActiveRun } from './active-run.ts';
import type { RunDependencies } from './dependencies.ts';

/**
 * What becomes of a step with the final answer of an agent that hands its runs on (`onEnd`): the step without the end of
 * the run, and the agent that goes on. Undefined: the run ends, also if it was handed over too often.
 *
 * @throws LanefoldError `invalid_input` for a handoff that cannot be
 */
export function handOn(
  deps: RunDependencies,
  { agent, claim }: ActiveRun,
  onEnd: NonNullable<ReadyAgent['onEnd']>,
  decision: StrategyDecision,
  answer: () => string,
): { decision: StrategyDecision; next: NextAgent } | undefined {
  const { finish, ...step } = decision.step ?? {};
  if (finish?.reason !== 'final_answer' || claim.options?.compaction) return undefined;
  const handoff = typeof onEnd === 'function' ? onEnd(answer()) : onEnd;
  if (handoff === undefined) return undefined;
  if (!(handoff instanceof Handoff)) throw impossible(agent.name, 'it returned something else than handOff(…)');
  const { request } = handoff;
  if (request.ask === undefined)
    throw impossible(agent.name, 'it has no ask, and the conversation ends with an answer');
  const refused = refusalOf(deps, agent, claim, request);
  if (refused?.type === 'too_many_handoffs') return undefined;
  if (refused) throw impossible(agent.name, refused.message);
  const { output: _, ...state } = nextIteration(decision.state as TurnState);
  const events = [...(step.events ?? []), ...(finish.events ?? [])];
  return { decision: { ...decision, state, step: { ...step, events } }, next: nextAgent(deps, request) };
}

const impossible = (agent: string, why: string): LanefoldError =>
  new LanefoldError('invalid_input', `Agent ${agent} cannot hand its run on at the end: ${why}.`, {
    hint: 'Correct onEnd of the agent.',
  });

import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { type ContentPart, type JsonObject, textOf } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { parseOptions } from '../../../agent/strategies/options.ts';
import type { Strategy } from '../../../agent/strategies/registry.ts';
import type { StrategySelection } from '../../../agent/strategies/selection.ts';
import type { OutputOption } from '../../../agent/contracts/contract.ts';

/** The strategy that executes a run. */
export interface ChosenStrategy {
  machine: Strategy;
  /** With defaults filled in; undefined for a strategy that takes none. */
  options: JsonObject | undefined;
  /** Present if the strategy of the request chose this one. */
  selection?: StrategySelection;
}

/** The parts of a request that concern its strategy. */
interface Request {
  input: string | ContentPart[];
  strategy?: string;
  strategyOptions?: object;
  tools?: string[];
  allowedTools?: string[];
  output?: OutputOption;
}

/** Finds the strategy that executes a request, and rejects options that the strategy does not support. */
export function chooseStrategy(agents: AgentRegistry, agent: string, given: Request): ChosenStrategy {
  const chosen = selectStrategy(agents, agent, given);
  const { machine, selection } = chosen;
  const name = selection ? `${machine.name}, chosen for this question,` : machine.name;
  if (!machine.tools && (given.tools || given.allowedTools)) {
    throw new LanefoldError('invalid_input', `tools has no effect: the strategy ${name} uses no tools.`, {
      hint: 'Omit it to use the agent’s own.',
    });
  }
  const contract = given.output ?? agents.get(agent).output ?? 'raw';
  if (!machine.output && contract !== 'raw' && contract.mode !== 'raw') {
    throw new LanefoldError('invalid_output', `The strategy ${name} does not support output contracts.`, {
      hint: 'Use the strategy react, or output: "raw".',
    });
  }
  return chosen;
}

/** The strategy that executes a request: its own, or the one that its own chooses for the question. */
export function selectStrategy(
  agents: AgentRegistry,
  agent: string,
  { strategy, strategyOptions, input }: Pick<Request, 'strategy' | 'strategyOptions' | 'input'>,
): ChosenStrategy {
  const own = agents.get(agent);
  const machine = agents.strategies.find(strategy ?? own.strategy);
  const inherited = machine.name === own.strategy ? own.strategyOptions : undefined;
  const options = parseOptions(machine, { ...inherited, ...strategyOptions });
  if (!machine.select) return { machine, options };
  const selection = machine.select(textOf(input), options ?? {});
  const chosen = agents.strategies.find(selection.strategy);
  if (chosen.select) {
    throw new LanefoldError('invalid_input', `The strategy ${machine.name} cannot choose ${chosen.name}.`, {
      hint: 'Leave it out of available and of strategy.',
    });
  }
  const theirs = (options?.['options'] ?? {}) as Record<string, object>;
  return { machine: chosen, selection, options: parseOptions(chosen, theirs[chosen.name]) };
}

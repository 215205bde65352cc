import type { StrategyState } from '../../agent/strategies/machine.ts';
import type { ToolCall } from '../../agent/context/message.ts';
import { versionIn } from '../../agent/definition/run-options.ts';
import { judgeCall } from '../../agent/tools/judge-call.ts';
import type { ActiveRun } from './open-run.ts';
import type { RunDependencies } from './dependencies.ts';

/** A run needs tools that this worker lacks and other workers have. Its steps are committed; another worker continues it. */
export class ToolsElsewhere extends Error {
  /** @param tools as `Needs` has them */
  constructor(readonly tools: readonly string[]) {
    super(`The run needs tools that this worker lacks: ${tools.join(', ')}.`);
    this.name = 'ToolsElsewhere';
  }
}

/**
 * Leaves a round of tool calls to another worker if this one lacks a tool that the agent has elsewhere: a live worker that could
 * execute the run has it, or the version of the agent that the run had before this worker took it. A tool that no definition of the
 * agent has is a mistake of the model, which reads the error.
 *
 * @throws ToolsElsewhere
 */
export async function assertOwnTools(
  deps: RunDependencies,
  active: ActiveRun,
  state: StrategyState,
  asked: readonly ToolCall[],
): Promise<void> {
  const { claim, agent, context, ledger } = active;
  const calls = asked.length > 0 ? asked : context.openCalls;
  if (!deps.findTools || claim.options?.eval || calls.length > agent.maxToolCalls) return;
  const stored = new Map(ledger?.map((row) => [row.call_index, row]));
  const isOpen = (index: number) => !stored.get(index)?.outcome && stored.get(index)?.status !== 'waiting';
  const open = calls
    .filter((call, index) => isOpen(index) && !judgeCall(call, undefined, state.cut))
    .map(({ name }) => name);
  const lacked = [...new Set(open)].filter((name) => !agent.tools.has(name) && mayCall(deps, active, state, name));
  if (lacked.length === 0) return;
  const { options, strategy } = claim;
  const needs = {
    agent: claim.agent,
    version: versionIn(options),
    tools: lacked,
    strategy: options?.selection?.strategy ?? strategy,
  };
  const found = await deps.findTools(needs, claim.earlier_version);
  if (found.length > 0) throw new ToolsElsewhere([...new Set([...found, ...(claim.unknown_tools ?? [])])]);
}

/** Whether nothing but this worker's definition of the agent keeps a run from a tool. */
function mayCall(
  { agents }: RunDependencies,
  { claim, agent }: ActiveRun,
  state: StrategyState,
  name: string,
): boolean {
  const { options, config } = claim;
  const own = agents.under(claim.agent, versionIn(options)).get(agent.name).tools;
  if (own.has(name) || options?.tools?.includes(name) === false) return false;
  if (options?.allowed_tools?.includes(name) === false || state.tools?.includes(name) === false) return false;
  return options?.tools !== undefined || !config?.tools?.removed.includes(name);
}

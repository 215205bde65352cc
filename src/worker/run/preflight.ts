import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { AnswerCut } from '../../agent/context/fold.ts';
import type { ToolCall } from '../../agent/context/message.ts';
import { asksApproval, askGuard, refusedCalls } from '../../agent/tools/judge-call.ts';
import { callIdempotencyKey, type ToolCallBase } from '../../agent/tools/execute.ts';
import type { ToolOutcome } from '../../agent/tools/outcome.ts';
import { toolsOnly } from '../../agent/definition/apply-overrides.ts';
import type { StepDraft, StrategyDecision } from '../../agent/strategies/machine.ts';
import type { LedgerRow } from '../../database/store/run/claim-run.ts';

/** Decisions about the calls of a round before any of them starts, by call index. */
export interface Preflight {
  /** Calls blocked by the agent's guard. */
  blocked: Map<number, ToolOutcome>;
  /** Calls that need human approval. */
  approvals: Set<number>;
  /** Calls that start now: those that started before a crash already have their `tool_started` event. */
  starting: ToolCall[];
}

/** Whether the guard or an approval check must run before the round; most rounds need neither. */
export const needsPreflight = (agent: ReadyAgent, calls: readonly ToolCall[]): boolean =>
  agent.guardTool !== null || calls.some((call) => agent.tools.get(call.name)?.needsApproval);

/**
 * The step of a decision. If it begins a round whose calls may never start, it has no `tool_started` events: they follow
 * once the calls are checked.
 */
export function stepOf(agent: ReadyAgent, { step, state, command }: StrategyDecision): StepDraft | undefined {
  if (!step || command.type !== 'run_tools') return step;
  if (!mayNotStart(toolsOnly(agent, state.tools), command.calls, state.cut)) return step;
  return { ...step, events: step.events?.filter(({ kind }) => kind !== 'tool_started') ?? [] };
}

/** Whether a crash may leave no trace of these calls. */
export const onlyReads = (agent: ReadyAgent, calls: readonly ToolCall[]): boolean =>
  calls.every(({ name }) => agent.tools.get(name)?.replay === 'readOnly');

/**
 * Whether the calls of a decision may begin before its step is stored: its state is then what they need, and they leave no trace if
 * it is not.
 */
export function mayBeginEarly(agent: ReadyAgent, { step, state, command }: StrategyDecision): boolean {
  if (!step?.calls || command.type !== 'run_tools' || command.calls.length === 0) return false;
  const offered = toolsOnly(agent, state.tools);
  return !step.effects && onlyReads(offered, command.calls) && !mayNotStart(offered, command.calls, state.cut);
}

const mayNotStart = (agent: ReadyAgent, calls: readonly ToolCall[], cut: AnswerCut | undefined): boolean =>
  calls.length > agent.maxToolCalls || needsPreflight(agent, calls) || refusedCalls(calls, agent.tools, cut).size > 0;

/**
 * Runs the guard and the approval checks for every undecided call, one at a time, in call order. Neither the guard nor a
 * person is asked about a call that is `refused`.
 */
export async function preflight(
  agent: ReadyAgent,
  calls: readonly ToolCall[],
  stored: ReadonlyMap<number, LedgerRow>,
  refused: ReadonlyMap<number, ToolOutcome>,
  baseOf: (index: number) => ToolCallBase,
  signal: AbortSignal,
): Promise<Preflight> {
  const found: Preflight = { blocked: new Map(), approvals: new Set(), starting: [] };
  for (const [index, call] of calls.entries()) {
    const row = stored.get(index);
    if (refused.has(index) || row?.outcome || row?.status === 'started' || row?.status === 'waiting') continue;
    const base = baseOf(index);
    const ctx = {
      ...base,
      toolCallId: call.id,
      idempotencyKey: callIdempotencyKey(base.runId, base.round, index),
      signal,
    };
    const tool = agent.tools.get(call.name);
    const timeoutMs = tool?.timeoutMs ?? agent.toolTimeoutMs;
    const verdict = agent.guardTool ? await askGuard(agent.guardTool, call, ctx, timeoutMs) : undefined;
    if (verdict) found.blocked.set(index, verdict);
    else if (tool && row?.approval?.decision !== 'approved' && (await asksApproval(tool, call, ctx, timeoutMs)))
      found.approvals.add(index);
    else found.starting.push(call);
  }
  return found;
}

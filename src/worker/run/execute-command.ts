import { toolsOnly } from '../../agent/definition/apply-overrides.ts';
import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { ToolCall } from '../../agent/context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { Command, StrategyEvent, StrategyState, PromptedCall, StepDraft } from '../../agent/strategies/machine.ts';
import { toolStarted } from '../../agent/strategies/turn/events.ts';
import { mergeSettings } from '../../agent/models/settings/call-settings.ts';
import type { StoredPolicy } from '../../agent/policy/policy.ts';
import type { ActiveRun } from './active-run.ts';
import { callModel } from './call-model.ts';
import { CallPool } from './call-pool.ts';
import { RunContext } from './context.ts';
import { compactLane } from './compact-lane.ts';
import type { RunDependencies } from './dependencies.ts';
import { wantsSummary } from './prepare-call.ts';
import { repairOutput } from './repair-output.ts';
import { runTools } from './run-tools.ts';

/** Calls of a round wait; the outcomes of the others are stored. */
export interface CallsWait {
  type: 'calls_wait';
  round: number;
  calls: readonly ToolCall[];
  /** Indices of the calls that need approval. */
  awaiting: number[];
}

/**
 * Executes a strategy's command and returns the result as the strategy's next event.
 *
 * @param write commits a step that the command adds
 * @throws LanefoldError `internal` if the runtime cannot execute the command
 */
export async function executeCommand(
  deps: RunDependencies,
  active: ActiveRun,
  state: StrategyState,
  command: Command,
  write: (step: StepDraft) => Promise<void>,
): Promise<StrategyEvent | CallsWait> {
  const { run, claim, agent, context } = active;
  const { iteration } = state;
  switch (command.type) {
    case 'call_model': {
      const callingAgent = command.tools === false ? toolsOnly(agent, []) : agent;
      const call = { ...command, iteration };
      if (
        !command.compacted &&
        !active.unsummarised &&
        (await wantsSummary(deps, callingAgent, claim, context, command.room))
      )
        return { type: 'over_budget' };
      return active.clock.within(run.signal, (signal) =>
        callModel(deps, run, callingAgent, claim, context, call, signal),
      );
    }
    case 'call_models': {
      const pool = (active.pool ??= new CallPool((call, signal) => callPrompted(deps, active, call, signal)));
      return active.clock.within(run.signal, (signal) => pool.next(command.calls, command.limit, signal));
    }
    case 'compact': {
      const compacted = await active.clock.within(run.signal, (signal) =>
        compactLane(deps, active, { ...command, iteration }, signal),
      );
      if (compacted.type !== 'compacted' || !compacted.compaction) active.unsummarised = true;
      return compacted;
    }
    case 'repair_output':
      return active.clock.within(run.signal, (signal) =>
        repairOutput(deps, run, agent, claim, context, { ...command, iteration }, signal),
      );
    case 'run_tools':
      return executeRound(deps, active, state, command, write);
    case 'finish':
      throw new LanefoldError('internal', `The strategy ${claim.strategy} ended without a terminal commit.`);
    default:
      throw new LanefoldError(
        'internal',
        `The strategy ${claim.strategy} returned an unknown command: ${JSON.stringify(command)}.`,
      );
  }
}

/**
 * Makes a model call with the strategy's own messages. Some of them are not in the log yet, so a cut by a policy is
 * recorded by their positions in the request.
 */
async function callPrompted(
  deps: RunDependencies,
  { run, claim, agent }: ActiveRun,
  call: PromptedCall,
  signal: AbortSignal,
): Promise<StrategyEvent> {
  const offered = call.tools === false ? toolsOnly(agent, []) : agent;
  const { system_prompt: _, ...policy } = agent.contextPolicy ?? {};
  const own: ReadyAgent = {
    ...offered,
    ...(call.settings ? { settings: mergeSettings(call.settings, offered.settings) } : {}),
    // the policy's prompt is for the lane; a question keeps the strategy's prompt, which says how to answer
    ...(agent.contextPolicy ? { contextPolicy: policy as StoredPolicy } : {}),
  };
  const both = AbortSignal.any([run.signal, signal]);
  const context = new RunContext(call.messages.map((message, seq) => ({ ...message, seq })));
  const event = await callModel(deps, run, own, claim, context, call, both);
  if (event.type !== 'model_answered' || !event.refs) return event;
  // no earlier call on the lane precedes it, so its cut cannot have moved
  const { dropped, cut_moved: _moved, ...refs } = event.refs;
  return { ...event, refs: { ...refs, ...(dropped === undefined ? {} : { dropped_positions: dropped }) } };
}

async function executeRound(
  deps: RunDependencies,
  active: ActiveRun,
  state: StrategyState,
  command: Extract<Command, { type: 'run_tools' }>,
  write: (step: StepDraft) => Promise<void>,
): Promise<StrategyEvent | CallsWait> {
  const { run, claim, agent, context, ledger } = active;
  const { round, iteration = state.iteration } = command;
  const calls = command.calls.length > 0 ? command.calls : context.openCalls;
  const roundAgent = toolsOnly(agent, state.tools);
  const started = async (starting: ToolCall[]) => {
    // an earlier step wrote the message, so the events refer to it by `seq`
    const events = starting.map((call) => {
      const { entry: _, data, ...event } = toolStarted({ ...state, iteration }, call);
      return { ...event, data: { ...data, seq: active.callSeq! } };
    });
    if (events.length > 0) await write({ events });
  };
  const toRun = { round, iteration, calls, cut: state.cut, callSeq: active.callSeq!, ledger, started };
  const outcomes = await runTools(deps, run, roundAgent, claim, toRun, active.contents);
  if ('awaiting' in outcomes) return { type: 'calls_wait', round, calls, awaiting: outcomes.awaiting };
  active.ledger = null;
  return { type: 'tools_finished', calls, outcomes };
}

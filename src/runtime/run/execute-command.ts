import { toolsOnly } from '../../agents/apply-overrides.ts';
import type { ReadyAgent } from '../../agents/registry.ts';
import { LanefoldError } from '../../errors.ts';
import { suspendRun } from '../../store/approval/suspend-run.ts';
import type { Command, MachineEvent, MachineState, PromptedCall } from '../../strategies/machine.ts';
import { mergeSettings } from '../../models/settings/call-settings.ts';
import type { StoredPolicy } from '../../policy/policy.ts';
import type { ActiveRun } from './active-run.ts';
import { callModel } from './call-model.ts';
import { CallPool } from './call-pool.ts';
import { RunContext } from './context.ts';
import { compactLane } from './compact-lane.ts';
import type { RunDependencies } from './dependencies.ts';
import { CancelRequested } from './held-run.ts';
import { wantsSummary } from './prepare-call.ts';
import { repairOutput } from './repair-output.ts';
import { runTools } from './run-tools.ts';

/** The run waits for approval: this worker is done with it. */
export interface Suspended {
  type: 'suspended';
  /** `cancelled` if the run was cancelled after it was suspended, while the commit's acknowledgement was lost. */
  status: 'suspended' | 'cancelled';
  awaiting?: string[];
}

/**
 * Executes a strategy's command and returns the result as the strategy's next event.
 *
 * @throws LanefoldError `internal` if the runtime cannot execute the command
 */
export async function executeCommand(
  deps: RunDependencies,
  active: ActiveRun,
  state: MachineState,
  command: Command,
): Promise<MachineEvent | Suspended> {
  const { run, claim, agent, context } = active;
  const { iteration } = state;
  switch (command.type) {
    case 'call_model': {
      const callingAgent = command.tools === false ? toolsOnly(agent, []) : agent;
      const call = { ...command, iteration };
      if (!command.compacted && !active.unsummarised && (await wantsSummary(deps, callingAgent, claim, context)))
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
      return repairOutput(deps, run, agent, claim, context, { ...command, iteration });
    case 'run_tools':
      return executeRound(deps, active, state, command);
    case 'finish':
      throw new LanefoldError('internal', `The strategy ${claim.strategy} ended without a terminal commit.`);
    default:
      throw new LanefoldError(
        'internal',
        `The strategy ${claim.strategy} commands what the runtime does not know: ${JSON.stringify(command)}.`,
      );
  }
}

/** Makes a model call with messages of the strategy's own. */
function callPrompted(
  deps: RunDependencies,
  { run, claim, agent }: ActiveRun,
  call: PromptedCall,
  signal: AbortSignal,
): Promise<MachineEvent> {
  const offered = call.tools === false ? toolsOnly(agent, []) : agent;
  const { system_prompt: _, ...policy } = agent.contextPolicy ?? {};
  const own: ReadyAgent = {
    ...offered,
    ...(call.settings ? { settings: mergeSettings(call.settings, offered.settings) } : {}),
    // its prompt is for the lane: a question has the strategy's, which says how to answer
    ...(agent.contextPolicy ? { contextPolicy: policy as StoredPolicy } : {}),
  };
  const both = AbortSignal.any([run.signal, signal]);
  return callModel(deps, run, own, claim, new RunContext(call.messages), call, both);
}

async function executeRound(
  deps: RunDependencies,
  active: ActiveRun,
  state: MachineState,
  command: Extract<Command, { type: 'run_tools' }>,
): Promise<MachineEvent | Suspended> {
  const { run, claim, agent, context, ledger } = active;
  const { round } = command;
  const calls = command.calls.length > 0 ? command.calls : context.openCalls;
  const roundAgent = toolsOnly(agent, state.tools);
  const outcomes = await runTools(deps, run, roundAgent, claim, { round, iteration: state.iteration, calls, ledger });
  if ('awaiting' in outcomes) {
    const { awaiting } = outcomes;
    const suspension = { round, awaiting, timeoutMs: agent.approvalTimeoutMs };
    const result = await run.persist(() => suspendRun(deps.db, run, suspension));
    run.step = result.step;
    if (result.cancel_requested) throw new CancelRequested();
    if (result.status === 'cancelled') return { type: 'suspended', status: 'cancelled' };
    // Whatever the status is by now: the calls may have been decided, and the run queued for another worker.
    const names = awaiting.map((index) => `${round}.${index} ${calls[index]!.name}`);
    return { type: 'suspended', status: 'suspended', awaiting: names };
  }
  active.ledger = null;
  return { type: 'tools_finished', calls, outcomes };
}

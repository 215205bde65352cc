import type { ToolCall } from '../../agent/context/message.ts';
import { toolsOnly } from '../../agent/definition/apply-overrides.ts';
import type { Command, StrategyDecision, StrategyEvent, StrategyState } from '../../agent/strategies/machine.ts';
import { toolStarted } from '../../agent/strategies/turn/events.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { ActiveRun } from './open-run.ts';
import { callModel } from './call-model.ts';
import { callPool } from './call-pool.ts';
import { commit } from './commit.ts';
import { compactLane } from './compact-lane.ts';
import type { RunDependencies } from './dependencies.ts';
import { CancelRequested } from './held-run.ts';
import { askedOf, wantsSummary } from './prepare-call.ts';
import { repairOutput } from './repair-output.ts';
import { endAbnormally, endCutShort, suspend, type CallsWait } from './run-end.ts';
import { type RunEnd } from './progress.ts';
import { runTools } from './run-tools.ts';
import { assertOwnTools } from './tools-elsewhere.ts';

/** The commit of the step whose calls begin before it is stored. */
export interface EarlyRound {
  committing: Promise<unknown>;
  /** Aborts if it fails. */
  signal: AbortSignal;
}

/** Executes the command of a decision. Returns what the strategy decides on next, or the end of the run. */
export async function execute(
  deps: RunDependencies,
  active: ActiveRun,
  { state, command }: StrategyDecision,
  early?: EarlyRound,
): Promise<StrategyEvent | RunEnd> {
  if (command.type === 'fail')
    return endAbnormally(deps, active.run, active.progress, 'failed', command.error, command.events);
  if (command.type === 'run_tools') await assertOwnTools(deps, active, state, command.calls);
  try {
    const event = await executeCommand(deps, active, state, command, early);
    return event.type === 'calls_wait' ? await suspend(deps, active, event) : event;
  } catch (error) {
    // what the model had written before a cancel; the questions of a strategy are not in the conversation
    if (command.type === 'call_model' && error instanceof CancelRequested && error.answer)
      return endCutShort(deps, active, state, error.answer);
    throw error;
  }
}

/** @throws LanefoldError `internal` if the runtime cannot execute the command */
async function executeCommand(
  deps: RunDependencies,
  active: ActiveRun,
  state: StrategyState,
  command: Command,
  early: EarlyRound | undefined,
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
        (await wantsSummary(deps, callingAgent, askedOf(claim, command), context, command.room))
      )
        return { type: 'over_budget' };
      return active.clock.within(run.signal, (signal) =>
        callModel(deps, run, callingAgent, claim, context, call, signal),
      );
    }
    case 'call_models': {
      const pool = (active.pool ??= callPool(deps, run, agent, claim));
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
      return executeRound(deps, active, state, command, early);
    case 'finish':
      throw new LanefoldError('internal', `The strategy ${claim.strategy} ended without a terminal commit.`);
    default:
      throw new LanefoldError(
        'internal',
        `The strategy ${claim.strategy} returned an unknown command: ${JSON.stringify(command)}.`,
      );
  }
}

async function executeRound(
  deps: RunDependencies,
  active: ActiveRun,
  state: StrategyState,
  command: Extract<Command, { type: 'run_tools' }>,
  early: EarlyRound | undefined,
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
    if (events.length === 0) return;
    const { cancel_requested: cancelled } = await commit(deps, active, state, { events });
    if (cancelled) throw new CancelRequested();
  };
  const toRun = {
    round,
    iteration,
    calls,
    cut: state.cut,
    callSeq: () => active.callSeq!,
    ledger,
    started,
    committing: early?.committing,
    signal: early ? AbortSignal.any([run.signal, early.signal]) : run.signal,
  };
  const outcomes = await runTools(deps, run, roundAgent, claim, toRun, active.contents);
  if ('approvals' in outcomes) return { type: 'calls_wait', round, calls, approvals: outcomes.approvals };
  active.ledger = null;
  return { type: 'tools_finished', calls, outcomes };
}

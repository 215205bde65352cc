import { effectiveAgent, toolsOnly } from '../../agents/effective.ts';
import { addUsage } from '../../context/usage.ts';
import type { Json, Usage } from '../../context/message.ts';
import { applyEffects } from '../../context/state.ts';
import { isLanefoldError, LanefoldError } from '../../errors.ts';
import { ModelError } from '../../models/errors/model-error.ts';
import { isTransient } from '../../postgres/errors.ts';
import { findStrategy } from '../../strategies/find.ts';
import type { Decision, EntryDraft, EventDraft, MachineEvent, RunError, RunFacts } from '../../strategies/machine.ts';
import { cleanText } from '../../text.ts';
import { callModel } from './call-model.ts';
import type { Claim } from '../../store/claim-run.ts';
import { commitStep, finishRun, type PromotedRun } from '../../store/commit-step.ts';
import { CancelRequested, HandedOver, type HeldRun } from './held-run.ts';
import { outputFacts } from './output-facts.ts';
import { repairOutput } from './repair-output.ts';
import { redactStep } from './redact-step.ts';
import { RunContext } from './context.ts';
import { runTools } from './run-tools.ts';
import { suspendRun } from '../../store/suspend-run.ts';
import type { WorkerDeps } from './dependencies.ts';

export interface RunEnd {
  status: string;
  /** The final answer, where there is one. */
  answer?: Json;
  error?: RunError;
  /** Tool calls that a suspended run waits for, as `1.0 pay`. */
  awaiting?: string[];
  iteration: number;
  usage?: Usage;
  promoted?: PromotedRun;
}

/**
 * Drives a claimed run to its end, or to where it waits for people: commits what the machine decides, does what it
 * commands, and tells it what came of that. The one interpreter for all strategies.
 *
 * @throws LanefoldError `lease_lost` when another worker has taken the run: nothing may be written any more
 */
export async function driveRun(deps: WorkerDeps, run: HeldRun, claim: Claim): Promise<RunEnd> {
  let usage: Usage | undefined = claim.usage ?? undefined;
  let iteration = claim.iteration;
  try {
    const agent = effectiveAgent(deps.agents, deps.agents.get(claim.agent), claim.config, claim.options);
    const machine = findStrategy(claim.strategy);
    const context = new RunContext(claim.context, agent.output?.instructions);
    const facts: RunFacts = {
      runId: run.runId,
      model: claim.model,
      maxIterations: agent.maxIterations,
      maxModelRetries: agent.maxModelRetries,
      cycleWarning: agent.cycleWarning,
      ...(agent.output ? { output: outputFacts(agent.output) } : {}),
    };
    let ledger = claim.calls;
    let resumed = !claim.fresh;
    let decision: Decision = claim.fresh ? machine.start(facts) : machine.resume(facts, claim.state);
    if (claim.cancel_requested) throw new CancelRequested();

    for (;;) {
      const { state, step, command } = decision;
      let continued = false;
      if (step) {
        const told = redactStep(deps.redactor, step);
        const result = await commitStep(deps.db, run, state, told, usage, {
          resumed,
          maxTraceEvents: deps.maxTraceEvents,
          messages: context.messages.length + (step.entries?.length ?? 0),
        });
        iteration = state.iteration;
        deps.onStep?.(state, told, usage);
        if (result.finished) return toEnd(result, { answer: step.finish?.result ?? answerOf(step.entries) });
        for (const entry of step.entries ?? []) context.push({ role: entry.role, ...entry.payload });
        for (const input of result.inputs ?? []) context.push(input);
        if (step.effects) claim.thread_state = applyEffects(claim.thread_state, step.effects);
        if (result.cancel_requested) throw new CancelRequested();
        continued = result.continued === true;
      }
      if (command.type === 'fail' && !continued) return await end('failed', 'error', command.error, command.events);
      let event: MachineEvent;
      if (continued) {
        event = { type: 'continued' };
      } else if (command.type === 'call_model') {
        const told = command.tools === false ? toolsOnly(agent, []) : agent;
        event = await callModel(deps, run, told, claim, context, { ...command, iteration: state.iteration });
        if (event.type === 'model_answered') usage = addUsage(usage, event.turn.usage);
      } else if (command.type === 'repair_output') {
        event = await repairOutput(deps, run, agent, claim, context, { ...command, iteration: state.iteration });
        if (event.type === 'output_repaired' && event.usage) usage = addUsage(usage, event.usage);
      } else if (command.type === 'run_tools') {
        const calls = command.calls.length > 0 ? command.calls : context.openCalls;
        const outcomes = await runTools(deps, run, toolsOnly(agent, state.tools), claim, {
          round: command.round,
          iteration: state.iteration,
          calls,
          ledger,
        });
        if ('awaiting' in outcomes) {
          const wait = { round: command.round, awaiting: outcomes.awaiting, timeoutMs: agent.approvalTimeoutMs };
          const status = await suspendRun(deps.db, run, wait);
          if (!status) throw new CancelRequested();
          if (status === 'cancelled') return toEnd({ status }, {});
          const names = wait.awaiting.map((index) => `${wait.round}.${index} ${calls[index]!.name}`);
          return toEnd({ status }, { awaiting: names });
        }
        ledger = null;
        event = { type: 'tools_finished', calls, outcomes };
      } else {
        throw new LanefoldError(
          'internal',
          command.type === 'finish'
            ? `The strategy ${claim.strategy} ended without a terminal commit.`
            : `The strategy ${claim.strategy} commands what the runtime does not know: ${JSON.stringify(command)}.`,
        );
      }
      resumed = false;
      decision = machine.on(facts, continued ? step!.continue!.state : state, event);
    }
  } catch (error) {
    if (error instanceof CancelRequested)
      return end('cancelled', 'cancelled', { type: 'cancelled', message: error.message });
    // a run does not fail because its database does
    if (isTransient(error) || isLanefoldError(error, 'lease_lost') || error instanceof HandedOver) throw error;
    return end('failed', 'error', toRunError(error));
  }

  async function end(
    status: 'failed' | 'cancelled',
    reason: string,
    fault: RunError,
    events?: EventDraft[],
  ): Promise<RunEnd> {
    const error = { ...fault, message: deps.redactor.text(fault.message) };
    const told = {
      ...(usage ? { usage } : {}),
      ...(events ? { events: deps.redactor.value(events) } : {}),
    };
    const result = await finishRun(deps.db, run, { status, reason, error, ...told });
    return toEnd(result, { error });
  }

  function toEnd(
    { status, promoted }: { status: string; promoted?: PromotedRun },
    how: Pick<RunEnd, 'error' | 'awaiting'> & { answer?: Json | undefined },
  ): RunEnd {
    return { status, iteration, ...how, ...(usage ? { usage } : {}), ...(promoted ? { promoted } : {}) } as RunEnd;
  }
}

const answerOf = (entries: EntryDraft[] = []): Json | undefined => {
  const last = entries.at(-1);
  return last?.role === 'assistant' ? last.payload['content'] : undefined;
};

function toRunError(error: unknown): RunError {
  if (error instanceof ModelError) return { type: error.errorType, message: error.message };
  if (error instanceof LanefoldError) return { type: error.code, message: error.message };
  return { type: 'runtime', message: cleanText(error instanceof Error ? error.message : String(error)) };
}

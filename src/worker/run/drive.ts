import { effectiveAgent, toolsOnly } from '../../agent/definition/apply-overrides.ts';
import type { Json } from '../../agent/context/message.ts';
import { readChildren } from '../../database/store/wait/child-runs.ts';
import { isTransient } from '../../database/postgres/errors.ts';
import type {
  Command,
  StrategyDecision,
  EntryDraft,
  StrategyMachine,
  RunFacts,
  StepDraft,
} from '../../agent/strategies/machine.ts';
import type { StoredAnswer } from '../../agent/strategies/node.ts';
import type { Claim, NodeRow } from '../../database/store/run/claim-run.ts';
import { commit } from './commit.ts';
import { endCutShort } from './cut-short.ts';
import { decide, decideOn, type Decider } from './decide.ts';
import { handoffIn, withoutHandoff } from './accept-handoff.ts';
import { handOn } from './hand-on.ts';
import { handOver } from './hand-over.ts';
import type { ActiveRun } from './active-run.ts';
import { executeCommand } from './execute-command.ts';
import { fullness } from './fit-context.ts';
import { CancelRequested, Released, type HeldRun, isLost } from './held-run.ts';
import { endAbnormally, toRunEnd, toRunError, type RunEnd, type RunProgress } from './run-end.ts';
import { mayNotStart, withoutStarts } from './preflight.ts';
import { RunClock } from './run-clock.ts';
import { readCutText } from '../../database/store/run/read-cut-text.ts';
import { versionIn } from '../../agent/definition/run-options.ts';
import { runFacts } from './run-facts.ts';
import { RunContext } from './context.ts';
import type { RunDependencies } from './dependencies.ts';
import { priceAt } from '../../runs/limiter/amounts.ts';
import { spentBy } from '../../runs/limiter/limits-for.ts';
import { RunBudget } from '../../runs/limiter/run-budget.ts';
import { LimitReached } from '../../runs/limiter/limit-reached.ts';
import { strategyOf } from './strategy-of.ts';
import { assertOwnTools, ToolsElsewhere } from './tools-elsewhere.ts';
import type { Answered } from '../../agent/strategies/turn/model-answer.ts';
import { callId, type TurnState } from '../../agent/strategies/turn/state.ts';
import { suspend } from './suspend.ts';

/**
 * Drives a claimed run until it ends, waits or is handed over. Errors end the run, except those that only stop this worker
 * from driving it: a failing database, a lost lease, and the worker's own stop.
 *
 * @throws LanefoldError `lease_lost`, `step_ahead` and others that `isLost` tells: this worker must write nothing more
 */
export async function driveRun(deps: RunDependencies, run: HeldRun, claim: Claim): Promise<RunEnd> {
  const progress: RunProgress = { iteration: claim.iteration, usage: claim.usage ?? undefined };
  if (claim.other_usage) progress.otherUsage = claim.other_usage;
  try {
    return await drive(deps, run, claim, progress);
  } catch (error) {
    if (error instanceof CancelRequested) {
      return endAbnormally(deps, run, progress, 'cancelled', { type: 'cancelled', message: error.message });
    }
    if (isTransient(error) || isLost(error) || isInterruption(error)) throw error;
    return endAbnormally(deps, run, progress, 'failed', toRunError(error));
  }
}

/** The run is intact, and continues later or elsewhere. */
const isInterruption = (error: unknown): boolean =>
  error instanceof Released || error instanceof LimitReached || error instanceof ToolsElsewhere;

/** The loop of every strategy: commit the step, execute the command, pass the result to the strategy. */
async function drive(deps: RunDependencies, run: HeldRun, claim: Claim, progress: RunProgress): Promise<RunEnd> {
  const agents = deps.agents.under(claim.agent, versionIn(claim.options));
  const own = effectiveAgent(agents, agents.get(claim.agent), claim.config, claim.options);
  const agent = claim.options && deps.features ? await deps.features.agentOf(own, claim.options) : own;
  const strategy = strategyOf(deps.agents, claim);
  const facts = runFacts(run.runId, claim, agent, strategy);
  const context = new RunContext(claim.context, agent.output?.instructions);
  const clock = new RunClock(claim.elapsed_ms, facts.maxDurationMs);
  run.clock = clock;
  const text = claim.state && (await readCutText(deps.db, run, claim.context_ref, claim.state as TurnState));
  if (text) facts.cutText = text;
  const { calls: ledger } = claim;
  const callSeq = ledger?.[0]?.call_seq;
  const active: ActiveRun = { run, claim, agent, context, ledger, callSeq, contents: [], clock };
  if (claim.cancel_requested) throw new CancelRequested();
  if (agent.maxCost !== undefined && !claim.options?.compaction)
    run.budget = await budgetOf(deps, run, claim, agent.maxCost);
  try {
    return await loop(deps, active, strategy, facts, progress);
  } finally {
    active.pool?.close();
  }
}

async function budgetOf(
  { counting, db, features }: RunDependencies,
  run: HeldRun,
  claim: Claim,
  dollars: number,
): Promise<RunBudget> {
  const { created_at: createdAt, model, iteration, usage, other_usage: otherUsage } = claim;
  const spent = spentBy({ createdAt }, { model, iteration, usage, otherUsage });
  const { cost } = claim.fresh ? { cost: 0 } : await readChildren(db, run);
  const share = claim.options ? await features?.shareOf(claim.options) : undefined;
  return new RunBudget(dollars, priceAt(counting, new Date(createdAt)), spent, cost, share);
}

async function loop(
  deps: RunDependencies,
  active: ActiveRun,
  strategy: StrategyMachine,
  facts: RunFacts,
  progress: RunProgress,
): Promise<RunEnd> {
  const { run, claim, agent } = active;
  const decider = { active, strategy, facts, progress };
  const first = firstDecision(decider, claim);
  let decision: StrategyDecision = claim.waited ? withoutLoss(first) : first;
  let resumed = !claim.fresh;
  for (;;) {
    const { state, command, memory } = decision;
    const write = async (more: StepDraft) => {
      const { cancel_requested: cancelled } = await commit(deps, active, state, more, progress, resumed);
      if (cancelled) throw new CancelRequested();
    };
    const checks = command.type === 'run_tools' && mayNotStart(toolsOnly(agent, state.tools), command.calls, state.cut);
    const step = decision.step && checks ? withoutStarts(decision.step) : decision.step;
    const on =
      agent.onEnd &&
      handOn(
        deps,
        active,
        agent.onEnd,
        { ...decision, step },
        () => earlierIn(decision) + textOf(step?.entries, active.context),
      );
    const handedOn = on && (await handOver(deps, active, facts, on.decision, on.next, progress));
    if (handedOn) return handedOn;
    const committed = step && (await commit(deps, active, state, step, progress, resumed));
    if (committed?.finished) {
      const { result, error } = step?.finish ?? {};
      const end = toRunEnd(progress, committed, {
        answer: earlierIn(decision) === '' ? (answerIn(step?.entries) ?? result) : result,
        ...(error && committed.status === 'failed' ? { error } : {}),
      });
      return isFull(active) ? { ...end, full: true } : end;
    }
    if (committed?.cancel_requested) throw new CancelRequested();
    if (committed?.continued) {
      decision = decideOn(decider, { type: 'continued' }, { state: step!.continue!.state, memory });
    } else if (command.type === 'fail') {
      return await endAbnormally(deps, run, progress, 'failed', command.error, command.events);
    } else {
      if (command.type === 'run_tools') await assertOwnTools(deps, active, state, command.calls);
      const event = await executeCommand(deps, active, state, command, write).catch((error: unknown) => ({
        cancelled: answerOfCancel(error, command),
      }));
      if ('cancelled' in event) return await endCutShort(deps, active, facts, state, event.cancelled, progress);
      if (event.type === 'calls_wait') return await suspend(deps, active, progress, event);
      const handoff = event.type === 'tools_finished' ? handoffIn(event.outcomes) : undefined;
      const next = await decide(decider, event, decision);
      const handed = handoff && (await handOver(deps, active, facts, next, handoff, progress));
      if (handed) return handed;
      decision =
        handoff && event.type === 'tools_finished'
          ? await decide(decider, { ...event, outcomes: withoutHandoff(event.outcomes) }, decision)
          : next;
    }
    resumed = false;
  }
}

/** How the strategy goes on with a run that was just claimed. */
function firstDecision(decider: Decider, claim: Claim): StrategyDecision {
  const { strategy, facts } = decider;
  if (claim.fresh || (claim.waited && !claim.state)) return strategy.start(facts);
  const { handed, ...state } = claim.state ?? {};
  if (handed === undefined) return strategy.resume(facts, claim.state, claim.nodes?.map(toStoredAnswer));
  // the commit that handed the run over has started the next call
  const own = state as TurnState;
  if (handed === 'whole') {
    // committed without `handed`, so that a worker that takes over sees a call that was lost
    return { step: {}, ...decideOn(decider, { type: 'continued' }, { state: own }) };
  }
  const request = { cause: 'handoff', keepTurns: 0 } as const;
  return { state: own, command: { type: 'compact', callId: callId(facts, own), request } };
}

/** A run that a limit delayed lost no call: it had made none. */
const withoutLoss = (decision: StrategyDecision): StrategyDecision => {
  const { step } = decision;
  if (!step?.events) return decision;
  return { ...decision, step: { ...step, events: step.events.filter(({ kind }) => kind !== 'llm_lost') } };
};

/** What the model had written before a cancel aborted its call. The questions of a strategy are not in the conversation. */
function answerOfCancel(error: unknown, command: Command): Answered {
  if (command.type === 'call_model' && error instanceof CancelRequested && error.answer) return error.answer;
  throw error;
}

function isFull({ agent, claim, context }: ActiveRun): boolean {
  const { compact_at: share } = agent.contextPolicy ?? {};
  return share !== undefined && !claim.options?.compaction && (fullness(context) ?? 0) >= share;
}

const toStoredAnswer = ({ elapsed_ms: elapsedMs, data, ...row }: NodeRow): StoredAnswer => ({
  ...row,
  elapsedMs,
  rounds: (data?.['rounds'] ?? []) as unknown as StoredAnswer['rounds'],
});

/** The text of the cut answers that the answer of a decision continues. */
const earlierIn = ({ memory }: StrategyDecision): string => (typeof memory === 'string' ? memory : '');

/** The text of an answer: of this step, or of an earlier one that was only checked or repaired in this one. */
const textOf = (entries: EntryDraft[] | undefined, { messages }: RunContext): string => {
  const answer = answerIn(entries) ?? messages.findLast(({ role }) => role === 'assistant')?.content;
  return typeof answer === 'string' ? answer : '';
};

const answerIn = (entries: EntryDraft[] = []): Json | undefined => {
  const last = entries.at(-1);
  return last?.role === 'assistant' ? last.payload['content'] : undefined;
};

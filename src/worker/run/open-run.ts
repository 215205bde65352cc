import type { LargeContent } from '../../agent/context/large-content.ts';
import { effectiveAgent } from '../../agent/definition/apply-overrides.ts';
import type { AgentRegistry, ReadyAgent } from '../../agent/definition/registry.ts';
import { versionIn } from '../../agent/definition/run-options.ts';
import { chainOf, type ModelChain } from '../../agent/models/model-chain.ts';
import { compaction } from '../../agent/strategies/compaction.ts';
import type { RunFacts } from '../../agent/strategies/machine.ts';
import type { Strategy } from '../../agent/strategies/registry.ts';
import type { TurnState } from '../../agent/strategies/turn/events.ts';
import type { Claim, LedgerRow } from '../../database/store/run/claim-run.ts';
import { readCutText } from '../../database/store/run/read-cut-text.ts';
import { readChildren } from '../../database/store/wait/child-runs.ts';
import { priceAt, spentBy } from '../../runs/limiter/limited-run.ts';
import { RunBudget } from '../../runs/limiter/run-budget.ts';
import type { CallPool } from './call-pool.ts';
import { RunContext } from './context.ts';
import type { RunDependencies } from './dependencies.ts';
import { CancelRequested, type HeldRun } from './held-run.ts';
import { RunClock, type RunProgress } from './progress.ts';
import { runFacts } from './run-facts.ts';

/** A claimed run while this worker drives it. */
export interface ActiveRun {
  readonly run: HeldRun;
  readonly claim: Claim;
  readonly agent: ReadyAgent;
  readonly strategy: Strategy;
  readonly facts: RunFacts;
  readonly progress: RunProgress;
  readonly clock: RunClock;
  /** Replaced when the lane is compacted. */
  context: RunContext;
  /** Its next step may merely resume it, which is no progress. */
  resumed: boolean;
  /** Compacting its context failed or changed nothing: this worker does not try again in every round. */
  unsummarised?: true;
  /** The stored outcomes of the tool round in which the run was claimed; null from the next round on. */
  ledger: LedgerRow[] | null;
  /** `seq` of the message that makes the calls of the current tool round. */
  callSeq: number | undefined;
  /** Large texts of tool results; the next commit stores them with the results. */
  contents: LargeContent[];
  /** The model calls of a strategy that makes several at once. */
  pool?: CallPool;
}

/**
 * Prepares a claimed run: its agent with all overrides, its strategy, its context, its clock and its budget.
 *
 * @throws CancelRequested
 */
export async function openRun(
  deps: RunDependencies,
  run: HeldRun,
  claim: Claim,
  progress: RunProgress,
): Promise<ActiveRun> {
  const agent = await agentOf(deps, claim);
  const strategy = strategyOf(deps.agents, claim);
  const facts = runFacts(run.runId, claim, agent, strategy);
  const context = new RunContext(claim.context, agent.output?.instructions);
  const start = firstAsked(agent.chain, context);
  if (start > 0) facts.chainStart = start;
  const clock = new RunClock(claim.elapsed_ms, facts.maxDurationMs);
  run.clock = clock;
  const cutText = claim.state && (await readCutText(deps.db, run, claim.context_ref, claim.state as TurnState));
  if (cutText) facts.cutText = cutText;
  if (claim.cancel_requested) throw new CancelRequested();
  if (agent.maxCost !== undefined && !claim.options?.compaction)
    run.budget = await openBudget(deps, run, claim, agent.maxCost);
  return {
    run,
    claim,
    agent,
    strategy,
    facts,
    progress,
    clock,
    context,
    resumed: !claim.fresh,
    ledger: claim.calls,
    callSeq: claim.calls?.[0]?.call_seq,
    contents: [],
  };
}

/** The version of the agent that the run has, under the overrides of its request and its thread, as features change it. */
async function agentOf({ agents: all, features }: RunDependencies, claim: Claim): Promise<ReadyAgent> {
  const agents = all.under(claim.agent, versionIn(claim.options));
  const agent = effectiveAgent(agents, agents.get(claim.agent), claim.config, claim.options);
  const own = claim.options && features ? await features.agentOf(agent, claim.options) : agent;
  return { ...own, chain: chainOf(claim.model, claim.options?.fallback) };
}

/** The model with which a run begins: in a chain that is sticky for threads, the one that gave the last answer of the lane. */
const firstAsked = ({ models, sticky }: ModelChain, { answerRefs }: RunContext): number =>
  sticky === 'thread' && answerRefs?.['fallback'] ? models.indexOf(answerRefs['model'] as string) : 0;

/** Names of the strategies a worker can execute. */
export const executable = ({ strategies }: AgentRegistry): string[] => [...strategies.names, compaction.name];

/**
 * The strategy that executes a run: its own, the one its own selected, or the internal compaction, which no request can
 * name. Workers claim only runs whose strategy they know.
 */
const strategyOf = (agents: AgentRegistry, { strategy, options }: Claim): Strategy =>
  options?.compaction ? compaction : agents.strategies.find(options?.selection?.strategy ?? strategy);

async function openBudget(
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

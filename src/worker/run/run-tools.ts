import type { AnswerCut } from '../../agent/context/fold.ts';
import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { ToolCall } from '../../agent/context/message.ts';
import type { LargeContent } from '../../agent/context/large-content.ts';
import { frozen } from '../../agent/context/state.ts';
import type { CallOutcome } from '../../agent/strategies/machine.ts';
import { tooManyToolCalls, refusedCalls } from '../../agent/tools/judge-call.ts';
import { type ToolCallBase } from '../../agent/tools/execute.ts';
import type { Claim, LedgerRow } from '../../database/store/run/claim-run.ts';
import { needsPreflight, preflight } from './preflight.ts';
import { type RunDependencies } from './dependencies.ts';
import type { HeldRun } from './held-run.ts';
import { ToolRound, type RoundCalls } from './tool-round.ts';

interface Round extends RoundCalls {
  /** How the answer that makes the calls was cut. */
  cut: AnswerCut | undefined;
  /** The ledger as the claim found it, on a resumed round. */
  ledger: LedgerRow[] | null;
  /** Records that these calls start, once the guard and the approval checks allow them. */
  started(calls: ToolCall[]): Promise<void>;
}

/**
 * Runs the calls of a round and returns their outcomes in call order. A call whose outcome is stored is not run again.
 * Outcomes are committed as they come while siblings run. The last one, and those of the same turn of the event loop, land with the
 * round's messages, in one commit; those of a round that only reads all do.
 *
 * A large result is shortened; its text is stored with its outcome, or added to `contents` for the commit of the round.
 *
 * If calls need human approval, or wait for something else, the others run, their outcomes are all stored, and
 * `approvals` lists the calls to approve.
 */
export async function runTools(
  deps: RunDependencies,
  run: HeldRun,
  agent: ReadyAgent,
  claim: Claim,
  { ledger, started, ...round }: Round,
  contents: LargeContent[],
): Promise<CallOutcome[] | { approvals: number[] }> {
  const { calls, cut } = round;
  const stored = new Map(ledger?.map((row) => [row.call_index, row]));
  // if calls already ran under a higher limit, the round continues and they keep their outcomes
  if (calls.length > agent.maxToolCalls && [...stored.values()].every(({ status }) => status === 'pending'))
    return calls.map(() => tooManyToolCalls(agent.maxToolCalls) as CallOutcome);
  const state = frozen(claim.thread_state);
  const baseOf = (index: number): ToolCallBase => ({
    threadId: run.threadId,
    runId: run.runId,
    requestId: claim.request_id,
    iteration: round.iteration,
    round: round.round,
    callIndex: index,
    state,
    context: { ...agent.toolContext, ...claim.options?.tool_context },
  });
  const refused = refusedCalls(calls, agent.tools, cut);
  // without a guard, an approval or a refusal, the step that began the round has recorded the starts
  const ahead =
    refused.size > 0 || needsPreflight(agent, calls)
      ? await preflight(agent, calls, stored, refused, baseOf, round.signal)
      : undefined;
  if (ahead) await started(ahead.starting);
  return new ToolRound(deps, run, agent, claim, { ...round, stored, refused, ahead, baseOf }, contents).run();
}

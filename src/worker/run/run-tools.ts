import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { AnswerCut } from '../../agent/context/cut.ts';
import type { JsonObject, ToolCall } from '../../agent/context/message.ts';
import type { LargeContent } from '../../agent/context/large-content.ts';
import { frozen } from '../../agent/context/state.ts';
import type { CallOutcome } from '../../agent/strategies/machine.ts';
import { tooManyToolCalls } from '../../agent/tools/call-limit.ts';
import { executeToolCall, type ToolCallBase } from '../../agent/tools/execute.ts';
import { refusedCalls } from '../../agent/tools/judge-call.ts';
import type { ToolOutcome } from '../../agent/tools/outcome.ts';
import { unknownTool } from '../../agent/tools/lookup.ts';
import { runToolRound } from '../../agent/tools/round.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { acceptHandoff, settleHandoffs } from './accept-handoff.ts';
import { afterCrash, lostWorker, resultLimit } from './after-crash.ts';
import type { Claim, LedgerRow } from '../../database/store/run/claim-run.ts';
import { recordToolCall } from '../../database/store/run/record-tool-call.ts';
import type { HeldRun } from './held-run.ts';
import { RoundWaits } from './round-waits.ts';
import { needsPreflight, preflight } from './preflight.ts';
import type { RunDependencies } from './dependencies.ts';
import { judged, shortened, within } from './shown-outcome.ts';
import { fromLedger, ledgerRow } from './stored-outcome.ts';

interface Round {
  round: number;
  iteration: number;
  calls: ToolCall[];
  /** How the answer that makes the calls was cut. */
  cut: AnswerCut | undefined;
  /** `seq` of the message that makes the calls. */
  callSeq: number;
  /** The ledger as the claim found it, on a resumed round. */
  ledger: LedgerRow[] | null;
  /** Records that these calls start, once the guard and the approval checks allow them. */
  started(calls: ToolCall[]): Promise<void>;
}

/**
 * Runs the calls of a round and returns their outcomes in call order. A call whose outcome is stored is not run again.
 * Outcomes are committed as they come while siblings run; the last one lands with the round's messages, in one commit.
 *
 * A large result is shortened; its text is stored with its outcome, or added to `contents` for the commit of the round.
 *
 * If calls need human approval, or wait for something else, the others run, their outcomes are all stored, and
 * `awaiting` lists the calls to approve.
 */
export async function runTools(
  deps: RunDependencies,
  run: HeldRun,
  agent: ReadyAgent,
  claim: Claim,
  round: Round,
  contents: LargeContent[],
): Promise<CallOutcome[] | { awaiting: number[] }> {
  const stored = new Map(round.ledger?.map((row) => [row.call_index, row]));
  // if calls already ran under a higher limit, the round continues and they keep their outcomes
  if (round.calls.length > agent.maxToolCalls && [...stored.values()].every(({ status }) => status === 'pending'))
    return round.calls.map(() => tooManyToolCalls(agent.maxToolCalls) as CallOutcome);
  let open = round.calls.filter((_, index) => !stored.get(index)?.outcome).length;
  const large = new Map<number, LargeContent>();
  const shown = (outcome: ToolOutcome, tool: Tool, index: number) => {
    const { outcome: short, content } = shortened(judged(outcome, tool, agent), tool, deps.db);
    if (content) large.set(index, content);
    return short;
  };
  /** A result that came from the end of a wait, which knows neither the limits of the agent nor what is stored apart. */
  const fromWait = (outcome: ToolOutcome, { name }: ToolCall): ToolOutcome => {
    const tool = agent.tools.get(name);
    if (!tool) return outcome;
    const { outcome: short, content } = shortened(within(outcome, tool, agent), tool, deps.db);
    if (content) contents.push(content);
    return short;
  };
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
  const record = (index: number, row: JsonObject) =>
    run.persist(() => recordToolCall(deps.db, run, round.round, index, row));
  const refused = refusedCalls(round.calls, agent.tools, round.cut);
  // without a guard, an approval or a refusal, the step that began the round has recorded the starts
  const ahead =
    refused.size > 0 || needsPreflight(agent, round.calls)
      ? await preflight(agent, round.calls, stored, refused, baseOf, run.signal)
      : undefined;
  if (ahead) await round.started(ahead.starting);
  const waits = new RoundWaits(deps, run, agent, claim, { ...round, calls: round.calls.length });
  const accepted = (outcome: ToolOutcome, tool: Tool, index: number): ToolOutcome | Promise<ToolOutcome> => {
    const { wait, handoff } = outcome;
    if (wait) return waits.accept(index, outcome);
    return shown(handoff ? acceptHandoff(deps, agent, claim, { ...outcome, handoff }) : outcome, tool, index);
  };
  const waiting = new Set(
    [...round.calls.keys()].filter((index) => stored.get(index)?.status === 'waiting' && !stored.get(index)?.outcome),
  );

  const outcomes = await runToolRound(
    round.calls,
    async (call, index, signal) => {
      const row = stored.get(index);
      if (row?.outcome?.waited) return fromWait(fromLedger(row), call);
      if (row?.outcome) return fromLedger(row);
      if (ahead?.awaiting.has(index) || waiting.has(index)) return notYet;
      const blocked = ahead?.blocked.get(index);
      if (blocked) return blocked;
      const started = row?.status === 'started' ? row : undefined;
      const verdict = refused.get(index);
      // a worker of an earlier version may have started it
      if (verdict && started) return { ...lostWorker, attempts: started.attempts, durationMs: 0 };
      if (verdict) return verdict;
      const tool = agent.tools.get(call.name);
      if (!tool) return unknownTool(call.name);
      const base = baseOf(index);
      const observed = { call, description: tool.description, ...round, index, lostAttempts: started?.attempts ?? 0 };
      return run.telemetry.toolCall(observed, async () => {
        if (started) {
          run.assertHeld();
          const known = await afterCrash(tool, call, base, { attempts: started.attempts, signal, agent });
          if (known) return accepted(known, tool, index);
        }
        const outcome = await executeToolCall(tool, call, base, {
          signal,
          timeoutMs: agent.toolTimeoutMs,
          maxRetries: agent.toolMaxRetries,
          retryBackoffMs: agent.toolRetryBackoffMs,
          maxResultBytes: resultLimit(agent, tool),
          onAttempt: async (attempt) => {
            if (tool.replay !== 'safe') {
              await record(index, { status: 'started', attempts: attempt });
            }
            run.assertHeld();
          },
        });
        return accepted(outcome, tool, index);
      });
    },
    {
      concurrency: agent.toolConcurrency,
      signal: run.signal,
      onOutcome: async (index, outcome) => {
        if (stored.get(index)?.outcome || ahead?.awaiting.has(index) || waiting.has(index)) return;
        const wait = waits.recorded.get(index);
        if (wait) {
          await record(index, { ...ledgerRow(outcome), wait });
          if (outcome.status === 'waiting') waiting.add(index);
          else open -= 1;
          await deps.waits?.begun(run, { round: round.round, index });
          return;
        }
        open -= 1;
        const content = large.get(index);
        if (open === 0) {
          if (content) contents.push(content);
          return;
        }
        await record(index, { ...ledgerRow(outcome), ...(content ? { contents: [{ ...content }] } : {}) });
      },
    },
  );
  const awaiting = [...(ahead?.awaiting ?? [])];
  return awaiting.length + waiting.size > 0 ? { awaiting } : settleHandoffs(outcomes as CallOutcome[]);
}

/** Placeholder for a call that has no outcome yet; never stored. */
const notYet: ToolOutcome = { status: 'abandoned', content: '', attempts: 0, durationMs: 0 };

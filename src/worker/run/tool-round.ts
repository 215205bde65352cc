import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LargeContent } from '../../agent/context/large-content.ts';
import type { JsonObject, ToolCall } from '../../agent/context/message.ts';
import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { CallOutcome } from '../../agent/strategies/machine.ts';
import { executeToolCall, type ToolCallBase } from '../../agent/tools/execute.ts';
import { unknownTool, runToolRound } from '../../agent/tools/toolset.ts';
import type { ToolOutcome } from '../../agent/tools/outcome.ts';
import { runsAgain, type Tool } from '../../agent/tools/tool.ts';
import type { Claim, LedgerRow } from '../../database/store/run/claim-run.ts';
import { recordToolCall } from '../../database/store/run/record-tool-call.ts';
import { afterCrash, lostWorker, resultLimit } from './after-crash.ts';
import { onlyReads, type Preflight } from './preflight.ts';
import type { RunDependencies } from './dependencies.ts';
import { acceptHandoff, settleHandoffs } from './handoffs.ts';
import type { HeldRun } from './held-run.ts';
import { RoundWaits } from './round-waits.ts';
import { fromLedger, judged, ledgerRow, shortened, within } from './tool-outcomes.ts';

/** The calls of a round, and what they depend on. */
export interface RoundCalls {
  round: number;
  iteration: number;
  calls: ToolCall[];
  /** `seq` of the message that makes the calls; known once it is stored. */
  callSeq(): number;
  /** Settles when the message is stored, or could not be, if the round begins before that. */
  committing?: Promise<unknown> | undefined;
  /** Ends the round: what ends the run, and a message that could not be stored. */
  signal: AbortSignal;
}

/** A round whose calls are checked. */
interface CheckedRound extends RoundCalls {
  /** The rows of the ledger, by call index. */
  stored: ReadonlyMap<number, LedgerRow>;
  /** Calls that are not run, with what their tools would have said. */
  refused: ReadonlyMap<number, ToolOutcome>;
  ahead: Preflight | undefined;
  baseOf(index: number): ToolCallBase;
}

/** Runs the calls of a round: see `runTools`. */
export class ToolRound {
  readonly #waits: RoundWaits;
  /** Calls that wait, also those of an earlier worker. */
  readonly #waiting: Set<number>;
  readonly #large = new Map<number, LargeContent>();
  /** How many calls have no outcome yet. */
  #open: number;
  /** Whether outcomes need not be stored while siblings run. */
  readonly #together: boolean;
  /** Outcomes that are left to the commit of the round. */
  readonly #left = new Map<number, ToolOutcome>();

  constructor(
    private readonly deps: RunDependencies,
    private readonly held: HeldRun,
    private readonly agent: ReadyAgent,
    private readonly claim: Claim,
    private readonly round: CheckedRound,
    private readonly contents: LargeContent[],
  ) {
    const { calls, stored } = round;
    const isWaiting = (index: number) => stored.get(index)?.status === 'waiting' && !stored.get(index)?.outcome;
    this.#waits = new RoundWaits(deps, held, agent, claim, { ...round, calls: calls.length });
    this.#waiting = new Set([...calls.keys()].filter(isWaiting));
    this.#together = onlyReads(agent, calls);
    this.#open = calls.filter((_, index) => !stored.get(index)?.outcome).length;
  }

  async run(): Promise<CallOutcome[] | { approvals: number[] }> {
    const { ahead, calls } = this.round;
    const outcomes = await runToolRound(calls, (call, index, signal) => this.#outcomeOf(call, index, signal), {
      concurrency: this.agent.toolConcurrency,
      signal: this.round.signal,
      onOutcome: (index, outcome) => this.#store(index, outcome),
    });
    const approvals = [...(ahead?.approvals ?? [])];
    if (approvals.length + this.#waiting.size > 0) {
      for (const [index, outcome] of this.#left) await this.#recordOutcome(index, outcome);
      return { approvals };
    }
    for (const index of this.#left.keys()) {
      const content = this.#large.get(index);
      if (content) this.contents.push(content);
    }
    return settleHandoffs(outcomes as CallOutcome[]);
  }

  async #outcomeOf(call: ToolCall, index: number, signal: AbortSignal): Promise<ToolOutcome> {
    const { stored, refused, ahead } = this.round;
    const row = stored.get(index);
    if (row?.outcome?.waited) return this.#afterWait(fromLedger(row), call);
    if (row?.outcome) return fromLedger(row);
    if (this.#isPending(index)) return notYet;
    const blocked = ahead?.blocked.get(index);
    if (blocked) return blocked;
    const started = row?.status === 'started' ? row : undefined;
    const verdict = refused.get(index);
    // a worker of an earlier version may have started it
    if (verdict && started) return { ...lostWorker, attempts: started.attempts, durationMs: 0 };
    if (verdict) return verdict;
    const tool = this.agent.tools.get(call.name);
    if (!tool) return unknownTool(call.name);
    return this.#execute(tool, call, index, started, signal);
  }

  /** @param started the row of a call that had started when its worker died */
  #execute(tool: Tool, call: ToolCall, index: number, started: LedgerRow | undefined, signal: AbortSignal) {
    const { agent, round, held: run } = this;
    const { description } = tool;
    const { iteration } = round;
    const base = round.baseOf(index);
    const observed = { call, description, iteration, round: round.round, index };
    return run.telemetry.toolCall({ ...observed, lostAttempts: started?.attempts ?? 0 }, async () => {
      if (started) {
        run.assertHeld();
        const known = await afterCrash(tool, call, base, { attempts: started.attempts, signal, agent });
        if (known) return this.#accept(known, tool, index);
      }
      const outcome = await executeToolCall(tool, call, base, {
        signal,
        timeoutMs: agent.toolTimeoutMs,
        maxRetries: agent.toolMaxRetries,
        retryBackoffMs: agent.toolRetryBackoffMs,
        maxResultBytes: resultLimit(agent, tool),
        onAttempt: async (attempt) => {
          if (!runsAgain(tool.replay)) await this.#record(index, { status: 'started', attempts: attempt });
          run.assertHeld();
        },
      });
      // what it says is of use only if its message is stored
      await round.committing;
      return this.#accept(outcome, tool, index);
    });
  }

  #accept(outcome: ToolOutcome, tool: Tool, index: number): ToolOutcome | Promise<ToolOutcome> {
    const { wait, handoff } = outcome;
    if (wait) return this.#waits.accept(index, outcome);
    const shown = handoff ? acceptHandoff(this.deps, this.agent, this.claim, { ...outcome, handoff }) : outcome;
    const { outcome: short, content } = shortened(judged(shown, tool, this.agent), tool, this.deps.db);
    if (content) this.#large.set(index, content);
    return short;
  }

  /** The end of a wait knows neither the limits of the agent nor what is stored apart. */
  #afterWait(outcome: ToolOutcome, { name }: ToolCall): ToolOutcome {
    const tool = this.agent.tools.get(name);
    if (!tool) return outcome;
    const { outcome: short, content } = shortened(within(outcome, tool, this.agent), tool, this.deps.db);
    if (content) this.contents.push(content);
    return short;
  }

  /**
   * Stores an outcome while siblings run. Left to the commit of the round are the last one with those that end in the same turn of
   * the event loop, and all of a round that only reads.
   */
  async #store(index: number, outcome: ToolOutcome): Promise<void> {
    if (this.round.stored.get(index)?.outcome || this.#isPending(index)) return;
    const wait = this.#waits.recorded.get(index);
    if (wait) {
      await this.#record(index, { ...ledgerRow(outcome), wait });
      if (outcome.status === 'waiting') this.#waiting.add(index);
      else this.#open -= 1;
      await this.deps.waits?.begun(this.held, { round: this.round.round, index });
      return;
    }
    this.#open -= 1;
    if (this.#open > 0 && !this.#together) await nextTurn();
    if (this.#open === 0 || this.#together) this.#left.set(index, outcome);
    else await this.#recordOutcome(index, outcome);
  }

  /** Whether a call needs approval first, or waits. */
  #isPending(index: number): boolean {
    return this.round.ahead?.approvals.has(index) === true || this.#waiting.has(index);
  }

  #recordOutcome(index: number, outcome: ToolOutcome): Promise<void> {
    const content = this.#large.get(index);
    return this.#record(index, { ...ledgerRow(outcome), ...(content ? { contents: [{ ...content }] } : {}) });
  }

  #record(index: number, row: JsonObject): Promise<void> {
    return this.held.persist(() => recordToolCall(this.deps.db, this.held, this.round.round, index, row));
  }
}

/** Placeholder for a call that has no outcome yet; never stored. */
const notYet: ToolOutcome = { status: 'abandoned', content: '', attempts: 0, durationMs: 0 };

import type { AgentDefinition, RunResult } from '../../../agent/definition/definition.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { UnattendedRuns } from '../../fleet/unattended.ts';
import type { OutputOption, Known } from '../../../agent/contracts/contract.ts';
import type { DecisionReceipt } from '../../../database/store/wait/decide-tool-call.ts';
import type { InputReceipt } from '../../../database/store/input/enqueue-input.ts';
import type { RunInput } from '../../../database/store/input/read-inputs.ts';
import type { RunNode } from '../../../database/store/run/read-nodes.ts';
import type { RecordedRun, RunFilter } from '../../../database/store/run/list-runs.ts';
import type { Transaction } from '../../../database/store/transaction/transaction.ts';
import type { ListPage } from '../../../database/store/page.ts';
import type { Run, RunHandle, RunStatus, RunRef } from '../../../database/store/run/run.ts';
import type { RunEvent } from '../../../database/store/trace/read-events.ts';
import type { StrategyName } from '../../../agent/strategies/types.ts';
import type { StreamItem, StreamOptions } from '../../streams/stream-item.ts';
import type { TreeStreamItem, TreeStreamOptions } from '../../streams/tree.ts';
import type { DecisionOptions } from './approvals.ts';
import type { RunCost } from './cost.ts';
import type { CollectedRun, CollectOptions, MintedToken, ResumeOptions } from './checkpoints.ts';
import type { EnqueueOptions } from './enqueue.ts';
import type { RerunOptions, RetryOptions } from './repeat.ts';
import type { ContentInput } from '../../../agent/models/accept-content.ts';
import type { InputOptions } from './inputs.ts';
import type { RunTree } from './tree.ts';
import type { RunSnapshot } from './run-snapshot.ts';

/** A run as lists show it. */
export interface ListedRun extends RecordedRun, RunCost {}

/** Where the request for a run comes from, and the transaction it is part of. */
export interface EnqueuedBy {
  tx?: Transaction;
  from?: OverrideCaller;
  caller?: string;
}

/** `STRATEGY`: the strategies that requests may name. */
export interface Runs<AGENTS extends AgentDefinition = AgentDefinition, STRATEGY extends string = StrategyName> {
  /**
   * Accepts a run. Once this resolves, the run will end, whatever crashes.
   *
   * Inside the caller's own transaction (`tx`: of `pg`, Drizzle, `postgres`, Kysely or Prisma) the run exists if and
   * only if that transaction commits. Commit soon: the thread's row is locked until then. If this throws, the
   * transaction is as it was before and may continue.
   *
   * @throws LanefoldError `not_a_transaction`, `unknown_agent`, `unknown_model`, `missing_provider_key`, `thread_busy`,
   * `thread_not_found`, `idempotency_mismatch`, `invalid_text`, `invalid_id`, `invalid_input`, `override_not_allowed`;
   * in each case nothing was written
   *
   * @param on.from where the options come from; default `library`. Pass `http` for a caller you do not trust: it may
   * override only what the agent lists for callers over HTTP
   * @param on.caller who starts it; `unfinished` counts runs by caller
   */
  enqueue<
    NAME extends AGENTS['name'],
    OUT extends OutputOption | undefined = undefined,
    const CHOSEN extends STRATEGY = never,
  >(
    options: EnqueueOptions<NAME, OUT, CHOSEN>,
    on?: EnqueuedBy,
  ): Promise<RunHandle<RunResult<AGENTS, NAME, OUT, CHOSEN>>>;
  /**
   * Accepts many runs in few statements and round trips; runs of one thread keep the order given. Each has a separate
   * outcome, as from `Promise.allSettled`: the handle of its run, or the error that `enqueue` would have thrown. One
   * invalid run does not affect the others.
   *
   * @throws LanefoldError `invalid_input` for anything but a list
   */
  enqueueMany<NAME extends AGENTS['name']>(
    requests: readonly EnqueueOptions<NAME, OutputOption | undefined, STRATEGY>[],
    on?: EnqueuedBy,
  ): Promise<PromiseSettledResult<RunHandle<RunResult<AGENTS, NAME, undefined, never>>>[]>;
  /**
   * Repeats a run that has ended: a new run of the same agent with the same input and options, linked by `retryOf`, on
   * the same lane as it is now. If a failed run should leave its lane as it was before, enqueue it with
   * `onFailure: 'restore'`.
   *
   * @throws LanefoldError `run_active`, `run_not_found`, `unknown_agent`, `unknown_model`, `thread_busy`,
   * `idempotency_mismatch`; `invalid_input` for a compaction, and for a run that never began and whose trace was
   * dropped. Nothing was written
   */
  retry<RESULT>(run: RunRef<RESULT>, options?: RetryOptions, on?: { caller?: string }): Promise<RunHandle<RESULT>>;
  /**
   * Asks the question of a run again, on a fork of its lane as it was before the question, with another model, prompt
   * or policy, so that the answers can be compared: see `contexts.diff`. The thread of the run stays as it is; the new
   * run is on the fork.
   *
   * @throws LanefoldError `run_not_found`, `unknown_agent`, `unknown_model`, `invalid_policy`, `override_not_allowed`,
   * `thread_exists` also for a fork on which something else was asked, `idempotency_mismatch` for one with another
   * prompt or metadata; `invalid_input` for a run that has not begun
   *
   * @example
   * const other = await lanefold.runs.rerun(run, { model: 'anthropic:claude-sonnet-4-5' });
   */
  rerun<RESULT>(
    run: RunRef<RESULT>,
    options?: RerunOptions,
    on?: { caller?: string; from?: OverrideCaller },
  ): Promise<RunHandle<RESULT>>;
  /** How many runs that `caller` started, or that belong to a tenant, have not ended. */
  unfinished(of: { caller: string } | { tenant: string }): Promise<number>;
  /** Whether only these agents have run in a thread and its fork ancestors. True for a thread that does not exist. */
  ranOnly(threadId: string, agents: readonly string[]): Promise<boolean>;
  /** @throws LanefoldError `run_not_found` */
  get<RESULT>(run: RunRef<RESULT>): Promise<RunSnapshot<Known<RESULT>>>;
  /**
   * Resolves when the run has ended, whatever its outcome. After a few seconds without progress, calls `onUnattended`
   * if no worker can take the run. @throws LanefoldError `wait_timeout`; the run continues
   */
  wait<RESULT>(run: RunRef<RESULT>, options?: WaitOptions): Promise<Run<Known<RESULT>>>;
  /** Runs, newest first: of one thread, or over all threads. */
  list(filter?: Partial<RunFilter>): Promise<ListPage<ListedRun>>;
  /** The trace of a run after the `eventSeq` `after`, in order. */
  events(run: RunRef, options?: { after?: number; limit?: number }): Promise<RunEvent[]>;
  /**
   * The trace of a run as it grows, and the answers of its models while they are written. Ends after the last event of
   * the run; rejects with the reason of `signal`. Resume an interrupted stream with `after`: the `eventSeq` of the last event received.
   *
   * @throws LanefoldError `run_not_found`, `thread_erased`
   *
   * @example
   * for await (const item of lanefold.runs.stream(run)) {
   *   if (item.type === 'llm_delta' && 'text' in item) process.stdout.write(item.text);
   * }
   */
  stream(run: RunRef, options?: StreamOptions): AsyncIterable<StreamItem>;
  /**
   * As `stream`, together with the runs that its tool calls start, and theirs. The events of one run come in order, those
   * of different runs as they happen. Ends once all of them have ended; rejects with the reason of `signal`. Resume with `after`: the `cursor` of the last event
   * received.
   *
   * @throws LanefoldError `run_not_found`, `thread_erased`, `invalid_input` for a cursor of something else
   *
   * @example
   * for await (const { run: of, item } of lanefold.runs.streamTree(run)) {
   *   if (item.type === 'event') console.log(of.id, item.event.kind);
   * }
   */
  streamTree(run: RunRef, options?: TreeStreamOptions): AsyncIterable<TreeStreamItem>;
  /**
   * Sends a human's message to the active run of a thread, without starting a run. For a program's, see `inject`.
   *
   * @throws LanefoldError `no_active_run`, `other_run_active`, `run_ending`, `not_steerable`, `queue_full`,
   *   `empty_content`, `input_too_large`, `context_too_large`, `idempotency_mismatch`; nothing is queued then
   */
  steer(threadId: string, content: ContentInput, options?: InputOptions): Promise<InputReceipt>;
  /** Like `steer`, for a message that a program sends. */
  inject(threadId: string, content: ContentInput, options?: InputOptions): Promise<InputReceipt>;
  /**
   * The tree of runs that a run belongs to: the root, and the runs that tool calls have started, each with its state, cost
   * and what it waits for.
   *
   * @throws LanefoldError `run_not_found`
   */
  tree(run: RunRef): Promise<RunTree>;
  /**
   * Approves a tool call that a suspended run waits for. The first decision counts: repeating it returns the
   * same receipt. The run resumes once every call of its round is decided.
   *
   * @param call its name, such as `1.0`: `call` in `awaiting` of the run
   * @throws LanefoldError `already_decided` where it was denied, `not_awaiting_approval`, `tool_call_not_found`,
   * `run_not_found`, `thread_not_found`
   */
  approve(run: RunRef, call: string, options?: DecisionOptions): Promise<DecisionReceipt>;
  /** Like `approve`, but the call is not made, and the model sees a denial. */
  deny(run: RunRef, call: string, options?: DecisionOptions): Promise<DecisionReceipt>;
  /**
   * What the strategy of a run found out, in order: answers and thoughts. Empty for `react`, `cot` and `cod`, whose
   * answers are in the log. @throws LanefoldError `invalid_id`
   */
  nodes(run: RunRef, options?: { after?: number; limit?: number }): Promise<RunNode[]>;
  /** The inputs a run accepted through `steer` and `inject`, in order, with their state. */
  inputs(run: RunRef, options?: { after?: number; limit?: number }): Promise<RunInput[]>;
  /** Cancels a run, by its id or a checkpoint token; its tokens stop working. Harmless if repeated or too late. */
  cancel(run: RunRef | string, reason?: string): Promise<{ status: RunStatus; accepted: boolean }>;
  /**
   * Mints a token for the current step of a run. It works for 30 days unless `expiresInMs` says otherwise; null: for
   * ever.
   *
   * @throws LanefoldError `missing_token_secret`, `run_not_found`, `unknown_agent`, `token_stale` for a cancelled run
   */
  checkpoint(run: RunRef, options?: { expiresInMs?: number | null }): Promise<MintedToken>;
  /**
   * Resumes from a token. An unfinished run without a worker is queued again; an ended run is returned with its result;
   * with a `query`, a new run asks it on the same lane.
   *
   * @throws LanefoldError `run_active` while a worker holds the run, `token_stale` where it has advanced or was
   * cancelled; an invalid token throws the code of the check it fails (docs/checkpoints.md)
   */
  resume(token: string, options?: ResumeOptions, on?: { caller?: string }): Promise<Run>;
  /** Resumes the run if needed, waits for its end, and returns its outcome. @throws LanefoldError `wait_timeout` */
  collect(token: string, options?: CollectOptions): Promise<CollectedRun>;
}

export interface WaitOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
  /**
   * Called once per reason if no worker can take the run: none is alive, or no live worker knows its agent or strategy.
   * The wait continues. Must not throw. Default: logs a line, for each agent and reason at most one in ten seconds.
   */
  onUnattended?: (unattended: UnattendedRuns) => void;
}

import type { EnqueueOptions } from './enqueue-options.ts';
import type { AgentDefinition, RunResult } from '../../../agent/definition/definition.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { OutputOption, Known } from '../../../agent/contracts/contract.ts';
import type { StrategyName } from '../../../agent/strategies/types.ts';
import type { Run, RunHandle, RunRef } from '../../../database/store/run/run.ts';
import type { RunEvent } from '../../../database/store/trace/types.ts';
import type { RunStatus } from '../../../database/store/run/types.ts';
import type { Transaction } from '../../../database/store/transaction/within-transaction.ts';
import type { StreamItem, StreamOptions } from '../../streams/stream.ts';
import type { TreeStreamItem, TreeStreamOptions } from '../../streams/tree.ts';
import type { CollectedRun, CollectOptions } from './checkpoints.ts';
import type { RunSnapshot } from './run-snapshot.ts';
import type { DeclaredRuns } from './types.ts';
import type { WaitOptions } from './wait-for-run.ts';

/** Where the request for a run comes from, and the transaction it is part of. */
export interface EnqueuedBy {
  tx?: Transaction;
  from?: OverrideCaller;
  caller?: string;
}

/** `STRATEGY`: the strategies that requests may name. */
export interface Runs<
  AGENTS extends AgentDefinition = AgentDefinition,
  STRATEGY extends string = StrategyName,
> extends DeclaredRuns {
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
  /** Cancels a run, by its id or a checkpoint token; its tokens stop working. Harmless if repeated or too late. */
  cancel(run: RunRef | string, reason?: string): Promise<{ status: RunStatus; accepted: boolean }>;
  /** Resumes the run if needed, waits for its end, and returns its outcome. @throws LanefoldError `wait_timeout` */
  collect(token: string, options?: CollectOptions): Promise<CollectedRun>;
}

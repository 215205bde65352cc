import type { AgentDefinition } from '../agents/agent.ts';
import type { Caller } from '../agents/overridable.ts';
import type { RunResult } from '../agents/run-result.ts';
import type { OutputOption } from '../contracts/contract.ts';
import type { Known } from '../contracts/result-type.ts';
import { LanefoldError } from '../errors.ts';
import { assertId } from '../ids.ts';
import type { Database } from '../postgres/pool.ts';
import { dispatch } from '../queue/dispatch.ts';
import type { RunQueue } from '../queue/queue.ts';
import type { CallRef, DecisionReceipt } from '../store/approval/decide-tool-call.ts';
import type { InputReceipt } from '../store/input/enqueue-input.ts';
import { readInputs, type Input } from '../store/input/read-inputs.ts';
import { runNotFound } from '../store/missing.ts';
import { cancelRun } from '../store/run/cancel-run.ts';
import { findDelayedJob } from '../store/run/find-delayed-job.ts';
import { readNodes, type RunNode } from '../store/run/read-nodes.ts';
import { countUnfinished } from '../store/run/count-unfinished.ts';
import { listRuns, type RunFilter } from '../store/run/list-runs.ts';
import type { Transaction } from '../store/transaction/transaction.ts';
import type { Page } from '../store/page.ts';
import type { Run, RunHandle, RunStatus } from '../store/run/run.ts';
import { readRunEvents, type RunEvent } from '../store/trace/read-events.ts';
import type { Streams } from '../streams/open.ts';
import type { StreamItem, StreamOptions } from '../streams/stream-item.ts';
import { assertStorable } from '../text.ts';
import { assertRunOverrides } from './allow-overrides.ts';
import { decide, type DecisionOptions } from './approvals.ts';
import {
  collectRun,
  mintToken,
  openToken,
  resume,
  type Collected,
  type CollectOptions,
  type MintedToken,
  type ResumeOptions,
} from './checkpoints.ts';
import { enqueue, type EnqueueDeps, type EnqueueOptions } from './enqueue.ts';
import { enqueueMany } from './enqueue-many.ts';
import { rerun, type RerunOptions } from './rerun.ts';
import { retry, type RetryOptions } from './retry.ts';
import type { ContentInput } from '../models/messages/accept-content.ts';
import { sendInput, type InputOptions } from './inputs.ts';
import type { RunRef } from '../store/run/run-ref.ts';
import { assertRef } from './run-ref.ts';
import { readSnapshot, type RunSnapshot } from './run-snapshot.ts';
import type { RunWaiter } from './waiter.ts';

/** Whose request a run is, and the transaction it is part of. */
interface EnqueuedBy {
  tx?: Transaction;
  from?: Caller;
  caller?: string;
}

export interface Runs<AGENTS extends AgentDefinition = AgentDefinition> {
  /**
   * Accepts a run. Once this resolves the run will end, whatever crashes.
   *
   * Inside the caller's own transaction (`tx`: of `pg`, Drizzle, `postgres`, Kysely or Prisma) the run exists if and only if
   * that transaction commits. Commit soon: the thread's row is locked until then. If this throws, the transaction is as it
   * was before and may go on.
   *
   * @throws LanefoldError `not_a_transaction`, `unknown_agent`, `unknown_model`, `missing_provider_key`, `thread_busy`,
   * `thread_not_found`, `idempotency_mismatch`, `invalid_text`, `invalid_id`, `invalid_input`, `override_not_allowed`; in
   * each case nothing was written
   *
   * @param on.from whose request it is; default `library`. Pass `http` for options that come from a caller you do not
   * trust: they may override only what the agent lists for callers over HTTP
   * @param on.caller who starts it, to be counted by `unfinished`
   */
  enqueue<
    NAME extends AGENTS['name'],
    OUT extends OutputOption | undefined = undefined,
    const CHOSEN extends string = never,
  >(
    options: EnqueueOptions<NAME, OUT, CHOSEN>,
    on?: EnqueuedBy,
  ): Promise<RunHandle<RunResult<AGENTS, NAME, OUT, CHOSEN>>>;
  /**
   * Accepts many runs in few statements and round trips; those of one thread one after the other, in the order given. Each
   * has an answer of its own, as `Promise.allSettled` gives it: the handle of its run, or the error that `enqueue` would
   * have thrown. What is wrong with one never harms another.
   *
   * @throws LanefoldError `invalid_input` for anything but a list
   */
  enqueueMany<NAME extends AGENTS['name']>(
    requests: readonly EnqueueOptions<NAME>[],
    on?: EnqueuedBy,
  ): Promise<PromiseSettledResult<RunHandle<RunResult<AGENTS, NAME, undefined, never>>>[]>;
  /**
   * Asks again what a run that has ended was asked: a new run of the same agent with the same input and options, linked by
   * `retryOf`, on the same lane as it is now. Where the lane should be as it was before, enqueue with `onFailure: 'restore'`.
   *
   * @throws LanefoldError `run_active`, `run_not_found`, `unknown_agent`, `unknown_model`, `thread_busy`,
   * `idempotency_mismatch`; `invalid_input` for a run of an older version that never began. Nothing was written
   */
  retry<RESULT>(run: RunRef<RESULT>, options?: RetryOptions, on?: { caller?: string }): Promise<RunHandle<RESULT>>;
  /**
   * Asks the question of a run again on a fork of its lane as it was before the question, with another model, prompt or
   * policy, so that the answers can be compared: see `contexts.diff`. The thread of the run stays as it is; that of the
   * new run is its fork.
   *
   * @throws LanefoldError `run_not_found`, `unknown_agent`, `unknown_model`, `invalid_policy`, `override_not_allowed`,
   * `thread_exists` also for a fork on which something else was asked, `idempotency_mismatch` for one with another prompt or
   * metadata; `invalid_input` for a run that has not begun
   *
   * @example
   * const other = await lanefold.runs.rerun(run, { model: 'anthropic:claude-sonnet-4-5' });
   */
  rerun<RESULT>(
    run: RunRef<RESULT>,
    options?: RerunOptions,
    on?: { caller?: string; from?: Caller },
  ): Promise<RunHandle<RESULT>>;
  /** How many runs have not ended of those that `caller` started, or of a tenant. */
  unfinished(of: { caller: string } | { tenant: string }): Promise<number>;
  /** @throws LanefoldError `run_not_found` */
  get<RESULT>(run: RunRef<RESULT>): Promise<RunSnapshot<Known<RESULT>>>;
  /** Resolves when the run has ended, however it ended. @throws LanefoldError `wait_timeout`; the run continues */
  wait<RESULT>(
    run: RunRef<RESULT>,
    options?: { timeoutMs?: number; signal?: AbortSignal },
  ): Promise<Run<Known<RESULT>>>;
  /** Runs, newest first: of one thread, or over all threads. */
  list(filter?: Partial<RunFilter>): Promise<Page<Run>>;
  /** The trace of a run after the `eventSeq` `after`, in order. */
  events(run: RunRef, options?: { after?: number; limit?: number }): Promise<RunEvent[]>;
  /**
   * The trace of a run as it grows, and the answers of its models while they are written. Ends after the last event of
   * the run, or with `signal`. Resume an interrupted stream with `after`: the `eventSeq` of the last event received.
   *
   * @throws LanefoldError `run_not_found`, `thread_erased`
   *
   * @example
   * for await (const item of lanefold.runs.stream(run)) {
   *   if (item.type === 'llm_delta' && 'text' in item) process.stdout.write(item.text);
   * }
   */
  stream(run: RunRef, options?: StreamOptions): AsyncIterable<StreamItem>;
  /** Sends a human's message to the active run of a thread, without starting a new run. For a program's, see `inject`. */
  steer(threadId: string, content: ContentInput, options?: InputOptions): Promise<InputReceipt>;
  /** Like `steer`, for a message that a program sends. */
  inject(threadId: string, content: ContentInput, options?: InputOptions): Promise<InputReceipt>;
  /**
   * Approves a tool call that a suspended run waits for. The first decision counts: repeating it returns the
   * same receipt. The run resumes once every call of its round is decided.
   *
   * @throws LanefoldError `already_decided` where it was denied, `not_awaiting_approval`, `tool_call_not_found`,
   * `run_not_found`, `thread_not_found`
   */
  approve(run: RunRef, call: CallRef, options?: DecisionOptions): Promise<DecisionReceipt>;
  /** Like `approve`, but the call is not made, and the model sees a denial. */
  deny(run: RunRef, call: CallRef, options?: DecisionOptions): Promise<DecisionReceipt>;
  /**
   * What the strategy of a run found out, in order: answers and thoughts. Empty for `react`, `cot` and `cod`, whose answers
   * are in the log. @throws LanefoldError `invalid_id`
   */
  nodes(run: RunRef, options?: { after?: number; limit?: number }): Promise<RunNode[]>;
  /** The inputs a run accepted through `steer` and `inject`, in order, with their state. */
  inputs(run: RunRef, options?: { after?: number; limit?: number }): Promise<Input[]>;
  /** Cancels a run, by its id or a checkpoint token. Harmless twice or too late. Its tokens stop working. */
  cancel(run: RunRef | string, reason?: string): Promise<{ status: RunStatus; accepted: boolean }>;
  /**
   * Mints a token for the current step of a run, which works for 30 days unless `expiresInMs` says otherwise; null: for
   * ever. @throws LanefoldError `missing_token_secret`, `run_not_found`,
   * `unknown_agent`, `token_stale` for a cancelled run
   */
  checkpoint(run: RunRef, options?: { expiresInMs?: number | null }): Promise<MintedToken>;
  /**
   * Resumes from a token. An unfinished run without a worker is queued again; an ended run is returned with its result;
   * with a `query`, a new run asks it on the same lane.
   *
   * @throws LanefoldError `run_active` while a worker holds the run, `token_stale` where it has advanced or was cancelled;
   * an invalid token throws the code of the check it fails (docs/checkpoints.md)
   */
  resume(token: string, options?: ResumeOptions, on?: { caller?: string }): Promise<Run>;
  /** Resumes the run if needed, waits for its end, and returns everything about it. @throws LanefoldError `wait_timeout` */
  collect(token: string, options?: CollectOptions): Promise<Collected>;
}

export interface RunsDeps extends EnqueueDeps {
  waiter: RunWaiter;
  streams: Pick<Streams, 'follow'>;
  tokenSecrets: readonly string[];
}

export function runsOf(deps: RunsDeps): Runs {
  const { db, queue, waiter, streams } = deps;
  const get = async (run: RunRef): Promise<RunSnapshot<never>> => {
    assertRef(run);
    const found = await readSnapshot(db, deps.agents, run.threadId, run.id);
    if (!found) throw runNotFound(run.threadId, run.id);
    return found as RunSnapshot<never>;
  };
  const wait = async (
    run: RunRef,
    { timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<Run<never>> => {
    assertRef(run);
    const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const signals = [timeout, signal].filter((s) => s !== undefined);
    const key = { threadId: run.threadId, runId: run.id };
    let ended: Run | undefined;
    try {
      ended = await waiter.ended(key, signals.length > 0 ? AbortSignal.any(signals) : undefined);
    } catch (error) {
      if (!timeout?.aborted) throw error;
      throw new LanefoldError('wait_timeout', `Run ${run.id} did not end within ${timeoutMs} ms.`, {
        hint: 'The run continues; wait again or read it later.',
      });
    }
    if (!ended) throw runNotFound(run.threadId, run.id);
    return ended as Run<never>;
  };
  const points = { ...deps, get, wait };
  return {
    async enqueue<Strategy extends string>(
      options: EnqueueOptions<Strategy>,
      { tx, from = 'library', caller }: EnqueuedBy = {},
    ) {
      assertRunOverrides(deps.agents, deps.models, options, from);
      return enqueue(deps, options, { tx, caller }) as Promise<RunHandle<never>>;
    },
    async enqueueMany(requests: readonly EnqueueOptions[], { tx, from = 'library', caller }: EnqueuedBy = {}) {
      if (!Array.isArray(requests)) {
        throw new LanefoldError('invalid_input', 'The requests are not a list.', {
          hint: 'Pass [{ agent, input }, …].',
        });
      }
      const check = (request: EnqueueOptions) => {
        if (typeof request !== 'object' || request === null) {
          throw new LanefoldError('invalid_input', 'The request is no object.', { hint: 'Pass { agent, input }.' });
        }
        assertRunOverrides(deps.agents, deps.models, request, from);
      };
      return (await enqueueMany(deps, requests, check, { tx, caller })) as PromiseSettledResult<RunHandle<never>>[];
    },
    get,
    wait,
    async retry(run, options, { caller } = {}) {
      assertRef(run);
      return (await retry(deps, run, options, caller)) as RunHandle<never>;
    },
    async rerun(run, options = {}, { caller, from = 'library' } = {}) {
      assertRef(run);
      return (await rerun(deps, run, options, { caller, from })) as RunHandle<never>;
    },
    unfinished: (of) => countUnfinished(db, of),
    async list({ limit = 50, ...filter } = {}) {
      if (filter.threadId !== undefined) assertId(filter.threadId, 'The thread id');
      assertStorable(filter, 'The filter');
      return listRuns(db, { ...filter, limit });
    },
    async events(run, { after = -1, limit = 100 } = {}) {
      assertRef(run);
      return readRunEvents(db, run.threadId, run.id, after, limit);
    },
    async *stream(run, options) {
      assertRef(run);
      yield* streams.follow(run.threadId, run.id, options);
    },
    steer: (threadId, content, options) => sendInput(db, 'steer', threadId, content, options),
    inject: (threadId, content, options) => sendInput(db, 'inject', threadId, content, options),
    approve: (run, call, options) => decide(deps, run, call, 'approved', options),
    deny: (run, call, options) => decide(deps, run, call, 'denied', options),
    async nodes(run, { after = 0, limit = 1_000 } = {}) {
      assertRef(run);
      return readNodes(db, run.threadId, run.id, { after, limit });
    },
    async inputs(run, { after = 0, limit = 100 } = {}) {
      assertRef(run);
      return readInputs(db, run.threadId, run.id, { after, limit });
    },
    async cancel(target, reason = 'user_cancelled') {
      const run = typeof target === 'string' ? toRef(openToken(points, target)) : target;
      assertRef(run);
      assertStorable(reason, 'The reason');
      const { status, accepted, promoted } = await cancelRun(db, run.threadId, run.id, reason);
      if (promoted) await dispatch(db, queue, promoted);
      // a job that stays is harmless: it finds that its run has ended
      if (accepted && status === 'cancelled') await dropDelayedJob(db, queue, run).catch(() => {});
      return { status, accepted };
    },
    checkpoint: (run, options) => mintToken(points, run, options),
    resume: (token, options, on) => resume(points, token, options, on),
    collect: (token, options) => collectRun(points, token, options),
  };
}

/** A job with a delay would stay in the queue until that is over. */
async function dropDelayedJob(db: Database, queue: RunQueue, run: RunRef): Promise<void> {
  const job = await findDelayedJob(db, run.threadId, run.id, queue.prefix);
  if (job) await queue.remove([job]);
}

const toRef = ({ threadId, runId }: { threadId: string; runId: string }): RunRef => ({ threadId, id: runId });

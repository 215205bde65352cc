import { LanefoldError } from '../errors.ts';
import { assertId } from '../ids.ts';
import { dispatch } from '../queue/dispatch.ts';
import type { CallRef, DecisionReceipt } from '../store/approval/decide-tool-call.ts';
import type { InputReceipt } from '../store/input/enqueue-input.ts';
import { readInputs, type Input } from '../store/input/read-inputs.ts';
import { runNotFound } from '../store/missing.ts';
import { cancelRun } from '../store/run/cancel-run.ts';
import type { Transaction } from '../store/run/enqueue-run.ts';
import { listRuns } from '../store/run/read-run.ts';
import type { Run, RunHandle, RunStatus } from '../store/run/run.ts';
import { readRunEvents, type RunEvent } from '../store/trace/read-events.ts';
import type { Streams } from '../streams/open.ts';
import type { StreamItem, StreamOptions } from '../streams/stream-item.ts';
import { assertStorable } from '../text.ts';
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
import { sendInput, type InputOptions } from './inputs.ts';
import type { RunRef } from './run-ref.ts';
import { readSnapshot, type RunSnapshot } from './run-snapshot.ts';
import type { RunWaiter } from './waiter.ts';

export interface Runs {
  /**
   * Accepts a run. Once this resolves the run will end, whatever crashes.
   *
   * Inside the caller's own transaction (`tx`: a `pg` client or a Drizzle transaction) the run exists if and only if that
   * transaction commits. Commit soon: the thread's row is locked until then.
   *
   * @throws LanefoldError `unknown_agent`, `unknown_model`, `missing_provider_key`, `thread_busy`, `thread_not_found`,
   * `idempotency_mismatch`, `invalid_text`, `invalid_id`, `invalid_input`; in each case nothing was written
   */
  enqueue(options: EnqueueOptions, on?: { tx?: Transaction }): Promise<RunHandle>;
  /** @throws LanefoldError `run_not_found` */
  get(run: RunRef): Promise<RunSnapshot>;
  /** Resolves when the run has ended, however it ended. @throws LanefoldError `wait_timeout`; the run continues */
  wait(run: RunRef, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<Run>;
  /** The runs of a thread, newest first. `before`: the id of the last run of the page before. */
  list(threadId: string, options?: { status?: RunStatus; limit?: number; before?: string }): Promise<Run[]>;
  /** The trace of a run, by the run's own `seq` from 1. */
  events(run: RunRef, options?: { afterSeq?: number; limit?: number }): Promise<RunEvent[]>;
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
  steer(threadId: string, content: string, options?: InputOptions): Promise<InputReceipt>;
  /** Like `steer`, for a message that a program sends. */
  inject(threadId: string, content: string, options?: InputOptions): Promise<InputReceipt>;
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
  /** The inputs a run accepted through `steer` and `inject`, in order, with their state. */
  inputs(run: RunRef, options?: { afterOrdinal?: number; limit?: number }): Promise<Input[]>;
  /** Cancels a run, by its id or a checkpoint token. Harmless twice or too late. Its tokens stop working. */
  cancel(run: RunRef | string, reason?: string): Promise<{ status: RunStatus; accepted: boolean }>;
  /**
   * Mints a token for the current step of a run. @throws LanefoldError `missing_token_secret`, `run_not_found`,
   * `unknown_agent`, `token_stale` for a cancelled run
   */
  checkpoint(run: RunRef, options?: { expiresInMs?: number }): Promise<MintedToken>;
  /**
   * Resumes from a token. An unfinished run without a worker is queued again; an ended run is returned with its result;
   * with a `query`, a new run asks it on the same lane.
   *
   * @throws LanefoldError `run_active` while a worker holds the run, `token_stale` where it has advanced or was cancelled;
   * an invalid token throws the code of the check it fails (docs/checkpoints.md)
   */
  resume(token: string, options?: ResumeOptions): Promise<Run>;
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
  const get = async (run: RunRef): Promise<RunSnapshot> => {
    const found = await readSnapshot(db, deps.agents, run.threadId, run.id);
    if (!found) throw runNotFound(run.threadId, run.id);
    return found;
  };
  const wait: Runs['wait'] = async (run, { timeoutMs, signal } = {}) => {
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
    return ended;
  };
  const points = { ...deps, get, wait };
  return {
    enqueue: (options, { tx } = {}) => enqueue(deps, options, tx),
    get,
    wait,
    async list(threadId, { status, limit = 50, before } = {}) {
      assertId(threadId, 'The thread id');
      return listRuns(db, threadId, { status, limit, before });
    },
    async events(run, { afterSeq = 0, limit = 100 } = {}) {
      assertRef(run);
      return readRunEvents(db, run.threadId, run.id, afterSeq, limit);
    },
    stream: (run, options) => streams.follow(run.threadId, run.id, options),
    steer: (threadId, content, options) => sendInput(db, 'steer', threadId, content, options),
    inject: (threadId, content, options) => sendInput(db, 'inject', threadId, content, options),
    approve: (run, call, options) => decide(deps, run, call, 'approved', options),
    deny: (run, call, options) => decide(deps, run, call, 'denied', options),
    async inputs(run, { afterOrdinal = 0, limit = 100 } = {}) {
      assertRef(run);
      return readInputs(db, run.threadId, run.id, { afterOrdinal, limit });
    },
    async cancel(target, reason = 'user_cancelled') {
      const run = typeof target === 'string' ? toRef(openToken(points, target)) : target;
      assertStorable(reason, 'The reason');
      const { status, accepted, promoted } = await cancelRun(db, run.threadId, run.id, reason);
      if (promoted) await dispatch(db, queue, promoted);
      return { status, accepted };
    },
    checkpoint: (run, options) => mintToken(points, run, options),
    resume: (token, options) => resume(points, token, options),
    collect: (token, options) => collectRun(points, token, options),
  };
}

const toRef = ({ threadId, runId }: { threadId: string; runId: string }): RunRef => ({ threadId, id: runId });

function assertRef(run: RunRef): void {
  assertId(run.threadId, 'The thread id');
  assertId(run.id, 'The run id');
}

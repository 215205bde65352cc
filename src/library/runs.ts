import { LanefoldError } from '../errors.ts';
import { decideToolCall, type CallRef, type DecisionOptions, type DecisionReceipt } from './approvals.ts';
import { enqueueRun, type EnqueueDeps, type EnqueueOptions, type Transaction } from './enqueue.ts';
import { assertId } from '../ids.ts';
import type { PromotedRun } from '../store/commit-step.ts';
import { addPromoted } from '../queue/dispatch.ts';
import type { RunWaiter } from './waiter.ts';
import { readSnapshot, type RunSnapshot } from './run-snapshot.ts';
import { assertStorable } from '../text.ts';
import { readInputs, sendInput, type Input, type InputOptions, type InputReceipt } from './inputs.ts';
import type { Streams } from '../streams/open.ts';
import type { StreamItem, StreamOptions } from '../streams/stream.ts';
import { readRunEvents, type RunEvent } from '../store/read-events.ts';
import {
  collectRun,
  mintToken,
  openToken,
  resumeRun,
  type Collected,
  type CollectOptions,
  type MintedToken,
  type ResumeOptions,
} from './checkpoints.ts';
import { selectRun, toRun, type Run, type RunRow, type RunHandle, type RunStatus } from '../store/run-row.ts';

export interface RunRef {
  threadId: string;
  id: string;
}

export interface Runs {
  /**
   * Accepts a run. Once this resolves the run will end, whatever dies.
   *
   * Inside the caller's own transaction (`tx`: a `pg` client or a Drizzle transaction) the run exists if and only if that
   * transaction commits. Commit soon: the thread's row is locked until then.
   *
   * @throws LanefoldError `unknown_agent`, `unknown_model`, `missing_provider_key`, `thread_busy`, `thread_not_found`,
   * `idempotency_mismatch`, `invalid_text`, `invalid_id`, `invalid_input`; nothing is written then
   */
  enqueue(options: EnqueueOptions, on?: { tx?: Transaction }): Promise<RunHandle>;
  /** @throws LanefoldError `run_not_found` */
  get(run: RunRef): Promise<RunSnapshot>;
  /** Resolves when the run has ended, however it ended. @throws LanefoldError `wait_timeout`; the run goes on */
  wait(run: RunRef, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<Run>;
  /** The runs of a thread, newest first. `before`: the id of the last run of the page before. */
  list(threadId: string, options?: { status?: RunStatus; limit?: number; before?: string }): Promise<Run[]>;
  /** The trace of a run, by the run's own `seq` from 1. */
  events(run: RunRef, options?: { afterSeq?: number; limit?: number }): Promise<RunEvent[]>;
  /**
   * The trace of a run as it grows, and the answers of its models while they are written. Ends after the last event of
   * the run, or with `signal`. A stream that breaks off with its process is gone on with by `after`: the `eventSeq` of
   * the last event that came.
   *
   * @throws LanefoldError `run_not_found`, `thread_erased`
   *
   * @example
   * for await (const item of lanefold.runs.stream(run)) {
   *   if (item.type === 'llm_delta' && 'text' in item) process.stdout.write(item.text);
   * }
   */
  stream(run: RunRef, options?: StreamOptions): AsyncIterable<StreamItem>;
  /** Speaks to the active run of a thread as its user, without starting a new run. A person's words; see `inject`. */
  steer(threadId: string, content: string, options?: InputOptions): Promise<InputReceipt>;
  /** As `steer`, for what a program says. */
  inject(threadId: string, content: string, options?: InputOptions): Promise<InputReceipt>;
  /**
   * Approves a tool call that a suspended run waits for. The first decision counts: the same again answers as the first
   * time. The run goes on when every call of its round is decided.
   *
   * @throws LanefoldError `already_decided` where it was denied, `not_awaiting_approval`, `tool_call_not_found`,
   * `run_not_found`, `thread_not_found`
   */
  approve(run: RunRef, call: CallRef, options?: DecisionOptions): Promise<DecisionReceipt>;
  /** As `approve`, but the call is not made, and the model is told so. */
  deny(run: RunRef, call: CallRef, options?: DecisionOptions): Promise<DecisionReceipt>;
  /** What a run was told by `steer` and `inject`, in order, and what became of it. */
  inputs(run: RunRef, options?: { afterOrdinal?: number; limit?: number }): Promise<Input[]>;
  /** Asks for the end of a run, by its id or by a token of it. Harmless twice or too late; its tokens are dead then. */
  cancel(run: RunRef | string, reason?: string): Promise<{ status: RunStatus; accepted: boolean }>;
  /**
   * Mints a token of where a run stands now. @throws LanefoldError `missing_token_secret`, `run_not_found`,
   * `unknown_agent`, `token_stale` for a cancelled run
   */
  checkpoint(run: RunRef, options?: { expiresInMs?: number }): Promise<MintedToken>;
  /**
   * Goes on from a token: an unfinished run that no worker holds is given to the queue again, one that has ended comes
   * back with its result, and with a `query` a new run asks it on the same lane.
   *
   * @throws LanefoldError `run_active` while a worker has it, `token_stale` where it has gone on or was cancelled, and of
   * a token that is none by the name of the check it fails: see docs/checkpoints.md
   */
  resume(token: string, options?: ResumeOptions): Promise<Run>;
  /** Resumes where that is needed, waits for the end, and tells everything of the run. @throws LanefoldError `wait_timeout` */
  collect(token: string, options?: CollectOptions): Promise<Collected>;
}

export interface RunsDeps extends EnqueueDeps {
  waiter: RunWaiter;
  streams: Streams;
  tokenSecrets: readonly string[];
}

export function runsOf(deps: RunsDeps): Runs {
  const { db, queue, waiter, streams } = deps;
  const read = async (run: RunRef): Promise<Run> => {
    const [row] = await db.query<RunRow>('get_run', `${selectRun} where thread_id = $1 and id = $2`, [
      run.threadId,
      run.id,
    ]);
    if (!row) throw runNotFound(run);
    return toRun(row);
  };
  const get = async (run: RunRef): Promise<RunSnapshot> => {
    const found = await readSnapshot(db, deps.agents, run.threadId, run.id);
    if (!found) throw runNotFound(run);
    return found;
  };
  const wait: Runs['wait'] = async (run, { timeoutMs, signal } = {}) => {
    const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const signals = [timeout, signal].filter((s) => s !== undefined);
    try {
      await waiter.ended(run.threadId, run.id, signals.length > 0 ? AbortSignal.any(signals) : undefined);
    } catch (error) {
      if (!timeout?.aborted) throw error;
      throw new LanefoldError('wait_timeout', `Run ${run.id} has not ended within ${timeoutMs} ms.`, {
        hint: 'It goes on; wait again or read it later.',
      });
    }
    return read(run);
  };
  const points = { ...deps, get, wait };
  return {
    enqueue: (options, { tx } = {}) => enqueueRun(deps, options, tx),
    get,
    wait,
    async list(threadId, { status, limit = 50, before } = {}) {
      assertId(threadId, 'The thread id');
      const rows = await db.query<RunRow>(
        'list_runs',
        `${selectRun} where thread_id = $1 and ($2::text is null or status = $2)
           and ($3::text is null or (created_at, id) < (select created_at, id from lanefold.run where thread_id = $1 and id = $3))
         order by created_at desc, id desc limit $4`,
        [threadId, status ?? null, before ?? null, limit],
      );
      return rows.map(toRun);
    },
    events: (run, { afterSeq = 0, limit = 100 } = {}) => readRunEvents(db, run.threadId, run.id, afterSeq, limit),
    stream: (run, options) => streams.follow(run.threadId, run.id, options),
    steer: (threadId, content, options) => sendInput(db, 'steer', threadId, content, options),
    inject: (threadId, content, options) => sendInput(db, 'inject', threadId, content, options),
    approve: (run, call, options) => decideToolCall(deps, run, call, 'approved', options),
    deny: (run, call, options) => decideToolCall(deps, run, call, 'denied', options),
    inputs: (run, { afterOrdinal = 0, limit = 100 } = {}) => readInputs(db, run.threadId, run.id, afterOrdinal, limit),
    async cancel(target, reason = 'user_cancelled') {
      const run = typeof target === 'string' ? toRef(openToken(points, target)) : target;
      assertStorable(reason, 'The reason');
      const [row] = await db.query<{ result: { status: RunStatus; accepted: boolean; promoted?: PromotedRun } }>(
        'cancel_run',
        'select lanefold.cancel_run($1, $2, $3) as result',
        [run.threadId, run.id, reason],
      );
      const next = row!.result.promoted;
      if (next) await addPromoted(db, queue, next).catch(() => {});
      return { status: row!.result.status, accepted: row!.result.accepted };
    },
    checkpoint: (run, options) => mintToken(points, run, options),
    resume: (token, options) => resumeRun(points, token, options),
    collect: (token, options) => collectRun(points, token, options),
  };
}

const toRef = ({ threadId, runId }: { threadId: string; runId: string }): RunRef => ({ threadId, id: runId });

const runNotFound = (run: RunRef): LanefoldError =>
  new LanefoldError('run_not_found', `Run ${run.id} of thread ${run.threadId} does not exist.`, {
    hint: 'Check the ids.',
  });

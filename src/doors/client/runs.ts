import { newId, type Connection } from './connection.ts';
import { fromProblem, LanefoldClientError } from './errors.ts';
import { rejecting } from '../../base/common/promises.ts';
import { follow } from './follow.ts';
import type {
  BulkReceipt,
  CancelReceipt,
  CancelRuns,
  Checkpoint,
  Content,
  Decision,
  DecisionReceipt,
  Input,
  InputReceipt,
  ListAllRunsQuery,
  ListedRun,
  CountRunsQuery,
  RunCounts,
  NewInput,
  NewRun,
  ReleaseRuns,
  Rerun,
  RetryRun,
  RetryRuns,
  Resume,
  Run,
  RunEvent,
  RunNode,
  RunRef,
  RunSnapshot,
  RunTree,
} from './operations.ts';
import type { StreamItem, StreamOptions } from './sse.ts';
import type {
  AgentName,
  CallOptions,
  ClientResult,
  EnqueueOptions,
  KnownAgents,
  Page,
  ResultOr,
  RunHandle,
  RunOf,
} from './types.ts';
import { waitFor, type WaitOptions } from './wait-for.ts';

export interface ClientRuns<AGENTS extends KnownAgents = KnownAgents> {
  /**
   * Starts a run. Once this resolves, the run will end, whatever crashes. A request without a `requestId` gets one, so
   * that sending it again after a lost answer starts nothing twice.
   *
   * @throws LanefoldClientError `unknown_agent`, `thread_not_found`, `thread_busy`, `override_not_allowed`,
   * `idempotency_mismatch`, `invalid_request`, `rate_limited`; nothing was written then
   *
   * @example
   * const run = await client.runs.enqueue({ agent: 'support', input: 'Where is my order?' });
   * const { result } = await client.runs.wait(run);
   */
  enqueue<
    NAME extends AgentName<AGENTS>,
    OUT extends NewRun['output'] = undefined,
    CHOSEN extends string | undefined = undefined,
  >(
    options: EnqueueOptions<NAME, OUT, CHOSEN>,
    call?: CallOptions,
  ): Promise<RunHandle<ClientResult<AGENTS, NAME, OUT, CHOSEN>>>;
  /** Starts many runs with one request. Each has an outcome, in order: one invalid run does not affect the others. */
  enqueueMany<NAME extends AgentName<AGENTS>>(
    requests: readonly EnqueueOptions<NAME>[],
    call?: CallOptions,
  ): Promise<PromiseSettledResult<RunHandle<ClientResult<AGENTS, NAME, undefined, undefined>>>[]>;
  /** @throws LanefoldClientError `run_not_found` */
  get<RESULT>(run: RunOf<RESULT>, call?: CallOptions): Promise<RunSnapshot<ResultOr<RESULT>>>;
  /** Resolves when the run has ended, whatever its outcome. @throws LanefoldClientError `wait_timeout`; the run continues */
  wait<RESULT>(run: RunOf<RESULT>, options?: WaitOptions): Promise<RunSnapshot<ResultOr<RESULT>>>;
  /** Runs, newest first: of one thread, or over all threads. */
  list(filter?: ListAllRunsQuery & { threadId?: string }, call?: CallOptions): Promise<Page<ListedRun>>;
  /** How many runs a filter finds among the newest, by mark, by status, and by agent and version. */
  counts(filter?: CountRunsQuery, call?: CallOptions): Promise<RunCounts>;
  /** A page of the trace of a run. */
  events(run: RunRef, query?: { after?: number; limit?: number }, call?: CallOptions): Promise<Page<RunEvent, number>>;
  /**
   * The trace of a run as it grows, and the answers of its models while they are written, across lost connections. Ends
   * after the last event of the run; rejects with the reason of `signal`.
   *
   * @throws LanefoldClientError `run_not_found`, `unauthorized`, `forbidden`, `unreachable`
   *
   * @example
   * for await (const item of client.runs.stream(run)) {
   *   if (item.type === 'llm_delta' && 'text' in item) process.stdout.write(item.text);
   * }
   */
  stream(run: RunRef, options?: StreamOptions): AsyncGenerator<StreamItem, void, void>;
  /**
   * Sends a human's message to an active run. For a program's, see `inject`.
   *
   * @throws LanefoldClientError `no_active_run`, `other_run_active`, `run_ending`, `not_steerable`, `queue_full`
   */
  steer(run: RunRef, content: Content, options?: InputOptions, call?: CallOptions): Promise<InputReceipt>;
  /** Like `steer`, for a message that a program sends. */
  inject(run: RunRef, content: Content, options?: InputOptions, call?: CallOptions): Promise<InputReceipt>;
  /** The inputs that a run accepted, in order, with their state. */
  inputs(run: RunRef, query?: { after?: number; limit?: number }, call?: CallOptions): Promise<Page<Input, number>>;
  /** The tree of runs that a run belongs to: the root, and the runs that tool calls have started. */
  tree(run: RunRef, call?: CallOptions): Promise<RunTree>;
  /** What the strategy of a run found out: answers and thoughts. Empty for `react`, `cot` and `cod`. */
  nodes(run: RunRef, query?: { after?: number; limit?: number }, call?: CallOptions): Promise<Page<RunNode, number>>;
  /**
   * Approves a tool call that a suspended run waits for. The first decision counts; repeating it is harmless.
   *
   * @param call its name, such as `1.0`: `call` in `approvals` of the run
   * @throws LanefoldClientError `already_decided` where it was denied, `not_awaiting_approval`, `tool_call_not_found`
   */
  approve(run: RunRef, call: string, decision?: Decision, options?: CallOptions): Promise<DecisionReceipt>;
  /** Like `approve`, but the call is not made, and the model sees a denial. */
  deny(run: RunRef, call: string, decision?: Decision, options?: CallOptions): Promise<DecisionReceipt>;
  /** Cancels a run, by its address or a checkpoint token. Harmless if repeated or too late. */
  cancel(run: RunRef | string, options?: { reason?: string }, call?: CallOptions): Promise<CancelReceipt>;
  /** Asks the question of an ended run again, on its lane as it is now. @throws LanefoldClientError `run_active` */
  retry<RESULT>(run: RunOf<RESULT>, options?: RetryRun, call?: CallOptions): Promise<RunHandle<RESULT>>;
  /**
   * Cancels the runs that a filter selects. First with `dryRun: true`: it counts them; then with the `createdBefore` that it
   * returned. One that is refused stops no other.
   */
  cancelMany(
    filter: CancelRuns['filter'],
    options?: Omit<CancelRuns, 'filter'>,
    call?: CallOptions,
  ): Promise<BulkReceipt>;
  /** Like `cancelMany`: asks the questions of ended runs again. */
  retryMany(filter: RetryRuns['filter'], options?: Omit<RetryRuns, 'filter'>, call?: CallOptions): Promise<BulkReceipt>;
  /** Like `cancelMany`: lets suspended runs continue. */
  releaseMany(
    filter: ReleaseRuns['filter'],
    options?: Omit<ReleaseRuns, 'filter'>,
    call?: CallOptions,
  ): Promise<BulkReceipt>;
  /** Asks the question of a run again, on a fork of its lane as the lane was before it. */
  rerun<RESULT>(run: RunOf<RESULT>, options?: Rerun, call?: CallOptions): Promise<RunHandle<RESULT>>;
  /** Mints a token for the current step of a run. */
  checkpoint(run: RunRef, options?: { expiresInMs?: number | null }, call?: CallOptions): Promise<Checkpoint>;
  /**
   * Resumes from a checkpoint token: an unfinished run without a worker is queued again, an ended run is returned with
   * its result. With a `query`, a new run asks it on the same lane.
   */
  resume(token: string, options?: Omit<Resume, 'token'>, call?: CallOptions): Promise<Run>;
  /** The run of a checkpoint token, without resuming it. */
  collect(token: string, call?: CallOptions): Promise<Run>;
}

export type InputOptions = Omit<NewInput, 'content' | 'role'>;

export function runsOf(connection: Connection): ClientRuns {
  const at = ({ threadId, id }: RunRef) => ({ threadId, runId: id });
  const decide =
    (id: 'approveToolCall' | 'denyToolCall'): ClientRuns['approve'] =>
    (run, call, decision = {}, { signal } = {}) =>
      connection.call(id, { params: { ...at(run), call }, body: decision, signal });
  const input =
    (id: 'steerRun' | 'injectRun'): ClientRuns['steer'] =>
    (run, content, options = {}, { signal } = {}) =>
      connection.call(id, { params: at(run), body: { inputId: newId('in'), ...options, content }, signal });
  const runs: ClientRuns = {
    async enqueue({ threadId, ...options }, { signal } = {}) {
      // the server derives the thread of a request from its id, so that a repeated request finds it
      if (threadId === undefined && options.requestId !== undefined) {
        const [settled] = await runs.enqueueMany([options as EnqueueOptions], { signal: signal! });
        if (settled!.status === 'rejected') throw settled!.reason;
        return settled!.value as RunHandle<never>;
      }
      const created = threadId ?? newId('thread');
      const body = { requestId: newId('req'), ...(threadId ? {} : { createThread: true }), ...options } as NewRun;
      return connection.call('createRun', { params: { threadId: created }, body, signal });
    },
    async enqueueMany(requests, { signal } = {}) {
      const all = requests.map((request) => ({ requestId: newId('req'), ...request }));
      const { data } = await connection.call('createRuns', { body: { runs: all }, signal });
      return data.map(({ run, problem }) =>
        run
          ? { status: 'fulfilled', value: run as RunHandle<never> }
          : { status: 'rejected', reason: fromProblem(problem!) satisfies LanefoldClientError },
      );
    },
    get: (run, { signal } = {}) => connection.call('getRun', { params: at(run), signal }) as Promise<never>,
    wait: (run, options) => waitFor(runs, run, options) as Promise<never>,
    list: ({ threadId, ...query } = {}, { signal } = {}) =>
      threadId === undefined
        ? connection.call('listAllRuns', { query, signal })
        : connection.call('listRuns', { params: { threadId }, query, signal }),
    counts: (query = {}, { signal } = {}) => connection.call('countRuns', { query, signal }),
    events: (run, query = {}, { signal } = {}) => connection.call('listRunEvents', { params: at(run), query, signal }),
    stream: (run, options = {}) => rejecting(follow(connection, 'listRunEvents', at(run), options), options.signal),
    steer: input('steerRun'),
    inject: input('injectRun'),
    inputs: (run, query = {}, { signal } = {}) => connection.call('listInputs', { params: at(run), query, signal }),
    tree: (run, { signal } = {}) => connection.call('getTree', { params: at(run), signal }),
    nodes: (run, query = {}, { signal } = {}) => connection.call('listNodes', { params: at(run), query, signal }),
    approve: decide('approveToolCall'),
    deny: decide('denyToolCall'),
    cancel: (run, options = {}, { signal } = {}) =>
      typeof run === 'string'
        ? connection.call('cancelByToken', { body: { ...options, token: run }, signal })
        : connection.call('cancelRun', { params: at(run), body: options, signal }),
    retry: (run, options = {}, { signal } = {}) =>
      connection.call('retryRun', { params: at(run), body: { requestId: newId('req'), ...options }, signal }) as never,
    rerun: (run, options = {}, { signal } = {}) =>
      connection.call('rerunRun', {
        params: at(run),
        signal,
        body: { requestId: newId('req'), threadId: newId('thread'), ...options },
      }) as never,
    cancelMany: (filter, options = {}, { signal } = {}) =>
      connection.call('cancelRuns', { body: { ...options, filter }, signal }),
    retryMany: (filter, options = {}, { signal } = {}) =>
      connection.call('retryRuns', { body: { requestId: newId('req'), ...options, filter }, signal }),
    releaseMany: (filter, options = {}, { signal } = {}) =>
      connection.call('releaseRuns', { body: { ...options, filter }, signal }),
    checkpoint: (run, options = {}, { signal } = {}) =>
      connection.call('createCheckpoint', { params: at(run), body: options, signal }),
    resume: (token, options = {}, { signal } = {}) =>
      connection.call('resumeRun', {
        body: { ...(options.query === undefined ? {} : { requestId: newId('req') }), ...options, token },
        signal,
      }),
    collect: (token, { signal } = {}) => connection.call('collectRun', { body: { token }, signal }),
  };
  return runs;
}

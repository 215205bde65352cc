import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { assertId, newId } from '../../../base/checks/ids.ts';
import type { ContextRow } from '../../../agent/context/fold.ts';
import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import type { ModelName } from '../../../agent/models/providers.ts';
import type { ModelRegistry } from '../../../agent/models/registry.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { PolicyOption } from '../../../agent/policy/policy.ts';
import { acceptMessage, type MessageInput } from '../../../agent/models/accept-content.ts';
import { contextDiff, type DiffRow, type LanePoint } from '../../../database/store/context/context-diff.ts';
import { applyOperation, type OperationReceipt } from '../../../database/store/context/apply-operation.ts';
import { readContext } from '../../../database/store/context/read-context.ts';
import { readLanes, type Lane } from '../../../database/store/context/read-lanes.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import { assertStorable, promptOf } from '../../../base/checks/text.ts';
import { assertWhole } from '../../../base/checks/whole-number.ts';
import { assertThreadOverrides } from '../runs/allow-overrides.ts';
import type { CompactionResult, CompactOptions } from './compact.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';
import { readModelCall, type ModelCall } from './calls.ts';
import { nextCall } from './next-call.ts';
import { asksOfCall, newestRows, projectContext, type PolicyView, type ContextProjection } from './project.ts';
import { callReplayer, type CallReplay, type ReplayCallOptions } from './replay-call.ts';
import { requestHash } from '../runs/enqueue-request.ts';

export interface OperationOptions {
  /** A thread applies an operation with this id at most once; default: a new id. */
  opId?: string;
  reason?: 'manual' | 'restore' | 'compaction' | 'system';
  expectedRev?: number;
  baseSeq?: number;
  meta?: JsonObject;
  repair?: boolean;
}

/**
 * A context to start from: messages in chronological order. `systemPrompt`: absent inherits it; null or empty: none.
 */
export interface NewContext {
  systemPrompt?: string | null;
  /** Your name for it, kept in the log. */
  id?: string;
  entries: MessageInput[];
}

/** Which context to read. */
export interface ProjectOptions {
  /** The lane; default: the active one. */
  contextRef?: string;
  /** As of this entry, inclusive; default: now. */
  atSeq?: number;
  /** Only the newest messages: at most this many besides the system prompt, with whole tool groups. */
  limit?: number;
}

type AsksOfCall =
  { policy: PolicyOption } | { model: ModelName } | { agent: string } | { fullBudget: true } | { explain: true };

/** A context to compare. `contextRef`: default the active lane; `atSeq`: default now. */
export interface DiffedContext {
  threadId: string;
  contextRef?: string;
  atSeq?: number;
}

export interface Contexts {
  /**
   * What the next model call on a lane would be sent, what that costs and, with `explain`, why each message is sent or
   * left out. The context is cut by `policy`, or else as the latest run's agent and the thread say; the cut that the
   * last call left in force stays. Any option of `PolicyView` asks for this.
   *
   * @throws LanefoldError `invalid_policy`, `unknown_window`, `invalid_projection`, `unknown_agent`, `thread_not_found`
   */
  project(threadId: string, options: ProjectOptions & PolicyView & AsksOfCall): Promise<ContextProjection>;
  /** The uncut context of a lane, now or as of an entry. @throws LanefoldError `thread_not_found` */
  project(threadId: string, options?: ProjectOptions): Promise<ContextRow[]>;
  /**
   * Replaces the context of a lane (default: the active one). `from`: where the request comes from, see `runs.enqueue`;
   * a system prompt counts as an override.
   *
   * @throws LanefoldError `open_tool_group`, `invalid_operation`, `rev_conflict`, `override_not_allowed`
   */
  replace(
    threadId: string,
    context: NewContext,
    options?: OperationOptions & { contextRef?: string },
    on?: { from?: OverrideCaller },
  ): Promise<OperationReceipt>;
  /**
   * Has a model summarise the older part of a lane (default: the active one) and replaces that part with the summary.
   * The compaction is a separate run: it waits for the active one, is leased and retried like any other, and shows up
   * in `runs.list` with the strategy `compaction`. Its result says what it covered and what it cost. Durable messages,
   * such as skills, stay. If the summary is empty, or longer than what it covers, the run fails and nothing changes.
   * Until a lane's compaction has ended, another call returns the same run.
   *
   * @throws LanefoldError `thread_not_found`, `unknown_agent`, `unknown_model`, `override_not_allowed`, `invalid_input`
   *
   * @example
   * const run = await lanefold.contexts.compact('support-42');
   * const { status, result } = await lanefold.runs.wait(run);
   */
  compact(
    threadId: string,
    options?: CompactOptions,
    on?: { caller?: string; from?: OverrideCaller },
  ): Promise<RunHandle<CompactionResult | null>>;
  /** Clears a lane (default: the active one): replaces its context with an empty one, which inherits the prompt. */
  reset(threadId: string, options?: OperationOptions & { contextRef?: string }): Promise<OperationReceipt>;
  /**
   * Compares the contexts of two lanes, of the same thread or of different threads. Messages that both begin or end
   * with are `same`; those between are `removed` or `added`.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`
   */
  diff(one: DiffedContext, other: DiffedContext): Promise<DiffRow[]>;
  /** The lanes of a thread. */
  lanes(threadId: string): Promise<Lane[]>;
  /**
   * One answered model call: exactly what was sent, verified by its hash, and what came back. Its `llm_call_id` is in
   * the refs of the answer.
   *
   * @throws LanefoldError `call_not_found`, `thread_not_found`, `thread_erased`
   */
  call(threadId: string, llmCallId: string): Promise<ModelCall>;
  /**
   * Repeats an answered model call, with another model, system prompt or policy, to compare the answers. Runs no tools
   * and writes nothing; if the call fails, `error` says why. `from`: where the request comes from, see `runs.enqueue`.
   *
   * @throws LanefoldError `call_not_found`, `thread_not_found`, `thread_erased`, `unknown_agent`, `unknown_model`,
   * `missing_provider_key`, `override_not_allowed`, `invalid_policy`, `unknown_window`, `server_busy`
   */
  replayCall(
    threadId: string,
    llmCallId: string,
    options?: ReplayCallOptions,
    on?: { from?: OverrideCaller },
  ): Promise<CallReplay>;
  /** Makes a lane the active one. */
  switch(threadId: string, contextRef: string, options?: OperationOptions): Promise<OperationReceipt>;
}

export interface ContextsDeps {
  db: Database;
  agents: AgentRegistry;
  models: ModelRegistry;
  counting: Counting;
  compact: Contexts['compact'];
}

export function contextsOf({ db, agents, models, counting, compact }: ContextsDeps): Contexts {
  const replay = callReplayer({ db, agents, models, counting });
  const apply = async (
    threadId: string,
    contextRef: string | undefined,
    operation: JsonObject,
    options: OperationOptions,
  ) => {
    assertId(threadId, 'The thread id');
    if (contextRef !== undefined) assertId(contextRef, 'The context_ref');
    const opId = options.opId ?? newId('op');
    assertId(opId, 'The op_id');
    assertWhole(options.expectedRev, 'expectedRev');
    assertWhole(options.baseSeq, 'baseSeq');
    const body = {
      ...operation,
      reason: options.reason ?? 'manual',
      ...(options.baseSeq === undefined ? {} : { base_seq: options.baseSeq }),
      ...(options.meta === undefined ? {} : { meta: options.meta }),
    };
    assertStorable(body, 'The operation');
    const hash = requestHash({ contextRef, body });
    const { expectedRev, repair } = options;
    return applyOperation(db, threadId, { opId, contextRef, operation: body, hash, expectedRev, repair });
  };

  const project = async (
    threadId: string,
    { contextRef: given, atSeq, limit, ...view }: ProjectOptions & PolicyView = {},
  ): Promise<ContextRow[] | ContextProjection> => {
    assertId(threadId, 'The thread id');
    if (given !== undefined) assertId(given, 'The context_ref');
    assertWhole(limit, 'limit', { minimum: 1, hint: 'Omit it for all messages.' });
    const contextRef = given ?? (await readThread(db, threadId)).activeContextRef;
    const rows = await readContext(db, threadId, contextRef, atSeq);
    const newest = (all: ContextRow[]) => (limit === undefined ? all : newestRows(all, limit));
    if (!asksOfCall(view)) return newest(rows);
    const call = await nextCall({ db, agents }, { threadId, contextRef, atSeq }, view);
    const { explain = false, fullBudget: full = false } = view;
    // a process without the agent's own models shows the messages as the log has them
    const dialect = call.model === undefined ? undefined : await models.dialect(call.model).catch(() => undefined);
    const at = new Date(db.settings.clock.now());
    const projection = await projectContext(counting, rows, { ...call, dialect, at }, { explain, full });
    return { ...projection, messages: newest(projection.messages) };
  };

  return {
    compact,
    project: project as Contexts['project'],
    replace: async (threadId, context, { contextRef, ...options } = {}, { from = 'library' } = {}) => {
      assertThreadOverrides(agents, { systemPrompt: context.systemPrompt }, from);
      const resultContext: JsonObject = { entries: context.entries.map(acceptMessage) as unknown as Json };
      if (context.id !== undefined) {
        assertId(context.id, 'The id of the context');
        resultContext['id'] = context.id;
      }
      if (context.systemPrompt !== undefined) resultContext['system_prompt'] = promptOf(context.systemPrompt);
      return apply(threadId, contextRef, { type: 'replace', result_context: resultContext }, options);
    },
    reset: (threadId, { contextRef, ...options } = {}) =>
      apply(threadId, contextRef, { type: 'replace', result_context: { entries: [] } }, options),
    async call(threadId, llmCallId) {
      return readModelCall({ db, agents, counting }, threadId, llmCallId);
    },
    replayCall: (threadId, llmCallId, options = {}, { from = 'library' } = {}) =>
      replay(threadId, llmCallId, options, from),
    async diff(one, other) {
      const [a, b] = [await lanePoint(db, one), await lanePoint(db, other)];
      return contextDiff(db, a, b);
    },
    async lanes(threadId) {
      assertId(threadId, 'The thread id');
      return readLanes(db, threadId);
    },
    switch: (threadId, contextRef, options = {}) => apply(threadId, contextRef, { type: 'switch' }, options),
  };
}

async function lanePoint(db: Database, { threadId, contextRef, atSeq }: DiffedContext): Promise<LanePoint> {
  assertId(threadId, 'The thread id');
  if (contextRef !== undefined) assertId(contextRef, 'The context_ref');
  assertWhole(atSeq, 'atSeq', { minimum: -1 });
  const { activeContextRef } = await readThread(db, threadId);
  return { threadId, contextRef: contextRef ?? activeContextRef, atSeq };
}

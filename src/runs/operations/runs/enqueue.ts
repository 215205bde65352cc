import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { Json, JsonObject } from '../../../agent/context/message.ts';
import { snakeKeys, toSnakeCase } from '../../../base/common/case.ts';
import type { OutputOption } from '../../../agent/contracts/contract.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId, newRunId, newThreadId, assertRefs } from '../../../base/checks/ids.ts';
import { idsOf } from '../../../database/store/tenant/derived-ids.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import type { ModelRegistry } from '../../../agent/models/registry.ts';
import { acceptContent, type ContentInput, assertNotBlank } from '../../../agent/models/accept-content.ts';
import { asKeys, optionsWith } from '../../../agent/definition/options.ts';
import { undecided, type RunOptions, type ParentCall } from '../../../agent/definition/run-options.ts';
import type { RunHandle, RunRef } from '../../../database/store/run/run.ts';
import { assertStorable } from '../../../base/checks/text.ts';
import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import {
  enqueueRequest,
  type EnqueueContext,
  type RequestDeps,
  type CheckedRequest,
  requestHash,
} from './enqueue-request.ts';
import { checkPolicy, toRunOptions, type RunOverrides } from './check-overrides.ts';
import { assertRunOverrides } from './allow-overrides.ts';
import { usualOutputTokens } from '../../limiter/limited-run.ts';
import type { ChosenVersion, VersionChooser } from '../agents/version-chooser.ts';
import { assertWhole } from '../../../base/checks/whole-number.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { childRequestId, type StoredChild } from '../../../database/store/wait/wait-tasks.ts';
import { fork } from '../threads/fork.ts';

/** `CHOSEN`: the name of the request's strategy, if it is known at compile time. */
export interface EnqueueOptions<
  NAME extends string = string,
  OUT extends OutputOption | undefined = OutputOption | undefined,
  CHOSEN extends string = string,
>
  extends RunOverrides<OUT, CHOSEN>, Schedule {
  agent: NAME;
  /** The user message: text, or parts such as `{ type: 'image', image }`. Bytes are stored as base64. */
  input: ContentInput;
  /** Default: a new thread, created with the run. */
  threadId?: string;
  /** Create the given thread if it does not exist; default false. */
  createThread?: boolean;
  /** The lane; default: the thread's active one. */
  contextRef?: string;
  /**
   * Repeating the id on the thread returns the same run. Without a `threadId` the thread's id is derived from it, so it
   * must be unique. Default: the run's own id.
   */
  requestId?: string;
  /**
   * On a thread with an active run: `reject` (default), `wait` in line, or `interrupt`, which cancels that run, ends
   * earlier interrupts that have not started, and goes ahead of every waiting run.
   */
  busy?: 'reject' | 'wait' | 'interrupt';
  /** Kept in the `refs` of the user message. */
  extraRefs?: JsonObject;
  /**
   * W3C `traceparent` that the run's first claim continues; default: the active span, if telemetry is on. Ignored if
   * malformed.
   */
  traceparent?: string;
}

const enqueueKeys: KeysOf<EnqueueOptions> = {
  ...asKeys(optionsWith({})),
  agent: true,
  input: true,
  threadId: true,
  createThread: true,
  contextRef: true,
  requestId: true,
  busy: true,
  delayMs: true,
  ttlMs: true,
  extraRefs: true,
  traceparent: true,
};

/** What only the library itself sets. */
interface OwnEnqueueOptions extends EnqueueOptions {
  /** The run whose checkpoint this one continues from. */
  resumedFrom?: string;
  /** Default: a new id. */
  runId?: string;
  /** The call that starts it. */
  parent?: ParentCall;
}

export interface EnqueueDeps extends RequestDeps {
  agents: AgentRegistry;
  models: ModelRegistry;
  counting: Counting;
  /** Chooses versions of agents that have rollouts. */
  rollouts?: VersionChooser | undefined;
}

/** Accepts a run and gives it to the queue. See `Runs.enqueue`. */
export const enqueue = async (
  deps: EnqueueDeps,
  options: OwnEnqueueOptions,
  by: EnqueueContext = {},
): Promise<RunHandle> => enqueueRequest(deps, await toRequest(deps, options, by), by);

/** Builds the request for a run. Rejects every mistake that shows without reading the thread, before any write. */
export async function toRequest(
  { db, agents: all, models, counting, admission, rollouts }: EnqueueDeps,
  options: OwnEnqueueOptions,
  { caller, from }: Pick<EnqueueContext, 'caller' | 'from'> = {},
): Promise<CheckedRequest> {
  refuseUnknownKeys(
    'enqueue',
    { ...options, resumedFrom: undefined, runId: undefined, parent: undefined },
    enqueueKeys,
  );
  const { requestId } = options;
  const threadId = options.threadId ?? (requestId === undefined ? newThreadId() : (await idsOf(db)).thread(requestId));
  const chosen: ChosenVersion =
    options.version === undefined && rollouts
      ? await rollouts.choose(db, all, { ...options, threadId })
      : { version: options.version, kept: false };
  const agents = all.under(options.agent, chosen.version);
  const agent = agents.get(options.agent);
  if (from) assertRunOverrides(agents, models, options, from);
  const model = options.model ?? agent.model;
  models.check(model);
  await checkPolicy(counting, model, options.contextPolicy);
  const id = options.runId ?? newRunId();
  const body = await toBody(agents, options, model, options.strategy ?? agent.strategy, chosen);
  const { limitKeys = {}, input } = options;
  const { settings = {} } = body['options'] as RunOptions;
  await admission?.check(
    { ...{ threadId, runId: id, agent: agent.name, model, caller: caller ?? null, limitKeys }, tenant: db.tenant },
    () => ({
      inputTokens: counting.heuristicOf(model)({ role: 'user', content: acceptContent(input) }),
      outputTokens: settings.max_output_tokens ?? agent.settings.max_output_tokens ?? usualOutputTokens,
    }),
    options.maxCost ?? agent.maxCost,
  );
  return {
    threadId,
    body,
    id,
    requestId: requestId ?? id,
    busy: options.busy,
    traceparent: options.traceparent,
    hash: requestHash(asRequested(body, options)),
    createThread: options.threadId === undefined || options.createThread === true,
  };
}

/** The request as it is stored; `asRequested` turns it into what is hashed. */
async function toBody(
  agents: AgentRegistry,
  options: OwnEnqueueOptions,
  model: string,
  strategy: string,
  { version, kept }: ChosenVersion,
): Promise<JsonObject> {
  const { input: given, contextRef } = options;
  if (options.threadId !== undefined) assertId(options.threadId, 'The thread id');
  if (options.requestId !== undefined) assertId(options.requestId, 'The request id');
  if (contextRef !== undefined) assertId(contextRef, 'The context_ref');
  if (typeof given !== 'string' && !Array.isArray(given)) {
    throw new LanefoldError('invalid_input', 'The input is neither a string nor a list of content parts.', {
      hint: 'Pass input: "…".',
    });
  }
  assertRefs(options.extraRefs);
  assertSchedule(options);
  const input = acceptContent(given);
  assertNotBlank(input, 'The input');
  const { model: agentModel, resume } = agents.get(options.agent);
  const overrides = await toRunOptions(agents, options.agent, { ...options, input });
  assertStorable({ input, model, extraRefs: options.extraRefs, overrides }, 'The request');
  return {
    agent: options.agent,
    strategy,
    model,
    ...(contextRef === undefined ? {} : { context_ref: contextRef }),
    ...timesOf(options),
    ...(options.parent ? { parent: { ...options.parent } } : {}),
    ...(kept ? { thread_version: version } : {}),
    input: { content: input as Json, ...(options.extraRefs ? { refs: options.extraRefs } : {}) },
    options: {
      ...(overrides as unknown as JsonObject),
      ...(version === undefined ? {} : { version }),
      ...(resume === 'pinned' ? { pinned: true } : {}),
      ...(model === agentModel ? {} : { agent_model: agentModel }),
      ...(options.resumedFrom === undefined ? {} : { resumed_from: options.resumedFrom }),
    },
  };
}

/** The request without what its agent decides, so that a retry after a deployment is the same request. */
function asRequested(body: JsonObject, request: OwnEnqueueOptions): JsonObject {
  const { model, strategy, strategyOptions } = request;
  const { thread_version: _, options, ...rest } = body;
  const given = optionsWith({ repeat: 'as given' }).map((name) => [toSnakeCase(name), request[name]]);
  const asked = {
    ...undecided(options as JsonObject),
    ...Object.fromEntries(given),
    ...(strategyOptions ? { strategy_options: snakeKeys(strategyOptions) } : {}),
  };
  return { ...rest, ...({ model, strategy, options: asked } as JsonObject) };
}

/** When a worker may start a run. */
interface Schedule {
  /** No worker starts the run before this time has passed. Meanwhile it keeps its thread busy, like any queued run. */
  delayMs?: number;
  /** The run fails with `expired` if no worker has started it this long after it was accepted, or after its delay. */
  ttlMs?: number;
}

/** A year. */
export const maxDelayMs = 31_536_000_000;

function assertSchedule({ delayMs, ttlMs }: Schedule): void {
  assertWhole(delayMs, 'delayMs', { maximum: maxDelayMs, hint: 'Omit it to start at once.' });
  assertWhole(ttlMs, 'ttlMs', { minimum: 1, maximum: maxDelayMs, hint: 'Omit it to wait without limit.' });
}

/** The times as `enqueue_run` takes them. */
const timesOf = ({ delayMs, ttlMs }: Schedule): JsonObject => ({
  ...(delayMs ? { delay_ms: delayMs } : {}),
  ...(ttlMs === undefined ? {} : { ttl_ms: ttlMs }),
});

/** Starts the run that a tool call of another run asked for. Repeating it returns the same run. */
export async function startChild(deps: EnqueueDeps, child: RunRef, request: StoredChild): Promise<RunHandle> {
  const { agent, input, parent, caller, fork: point, ...options } = request;
  if (point) {
    const at = { id: child.threadId, seq: point.seq, contextRef: point.context_ref };
    await fork(deps.db, deps.agents, parent.thread_id, at, 'library');
  }
  return enqueue(
    deps,
    {
      ...{ agent, input, threadId: child.threadId, createThread: !point },
      ...{ runId: child.id, requestId: childRequestId(parent.run_id, parent.round, parent.index), parent },
      ...omitUndefined({
        ...{ model: options.model, maxCost: options.max_cost, maxIterations: options.max_iterations },
        ...{ toolContext: options.tool_context, limitKeys: options.limit_keys },
      }),
    },
    { caller },
  );
}

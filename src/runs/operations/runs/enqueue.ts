import type { ModelName } from '../../../agent/models/registry/model-name.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { Json, JsonObject } from '../../../agent/context/message.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import type { OutputOption } from '../../../agent/contracts/contract.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId, newRunId, newThreadId } from '../../../base/checks/ids.ts';
import { idsOf } from '../../../database/store/tenant/derived-ids.ts';
import type { Counting } from '../../../agent/models/counting/counting.ts';
import type { ModelRegistry } from '../../../agent/models/registry/registry.ts';
import { acceptContent, type ContentInput } from '../../../agent/models/messages/accept-content.ts';
import type { RunOptions, ParentCall } from '../../../agent/definition/run-options.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';
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
import { assertNotBlank } from '../../../agent/models/messages/not-blank.ts';
import { assertRefs } from '../../../base/checks/refs.ts';
import { usualOutputTokens } from '../../limiter/limited-run.ts';
import { assertLimitKeys } from '../../../agent/limits/limit-keys.ts';
import { assertSchedule, timesOf, type Schedule } from './schedule.ts';
import type { ChosenVersion, VersionChooser } from '../agents/version-chooser.ts';

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
  /**
   * The version of the agent: a label or an id. A run whose version no worker has waits for one. Default: what a rollout of the agent
   * chooses, else the first of its versions.
   */
  version?: string;
  /** Overrides the agent's model for this run. */
  model?: ModelName;
  /** Values that limits may apply to, such as `{ customer: 'acme' }`. */
  limitKeys?: Record<string, string>;
  /** Merged over the agent's `toolContext`. */
  toolContext?: JsonObject;
  /** `keep` (default): a failed run stays in the context, closed. `restore`: the lane goes back to before the run. */
  onFailure?: 'keep' | 'restore';
  /** Kept in the `refs` of the user message. */
  extraRefs?: JsonObject;
  /**
   * W3C `traceparent` that the run's first claim continues; default: the active span, if telemetry is on. Ignored if
   * malformed.
   */
  traceparent?: string;
}

const enqueueKeys: KeysOf<EnqueueOptions> = {
  strategyOptions: true,
  maxTotalTokens: true,
  maxCost: true,
  maxDurationMs: true,
  traceparent: true,
  agent: true,
  version: true,
  input: true,
  threadId: true,
  createThread: true,
  contextRef: true,
  requestId: true,
  busy: true,
  delayMs: true,
  ttlMs: true,
  priority: true,
  model: true,
  limitKeys: true,
  toolContext: true,
  onFailure: true,
  extraRefs: true,
  strategy: true,
  tools: true,
  allowedTools: true,
  settings: true,
  headers: true,
  requestTransformer: true,
  contextPolicy: true,
  maxIterations: true,
  streaming: true,
  idleTimeoutMs: true,
  output: true,
  toolTimeoutMs: true,
};

/** What only the library itself sets. */
export interface OwnEnqueueOptions extends EnqueueOptions {
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
  assertLimitKeys(options.limitKeys);
  const input = acceptContent(given);
  assertNotBlank(input, 'The input');
  const { model: agentModel, resume } = agents.get(options.agent);
  const overrides = await toRunOptions(agents, options.agent, { ...options, input });
  const { toolContext, extraRefs } = options;
  assertStorable({ input, model, toolContext, extraRefs, overrides }, 'The request');
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
      ...(options.priority ? { priority: options.priority } : {}),
      ...(options.limitKeys ? { limit_keys: options.limitKeys } : {}),
      ...(options.toolContext ? { tool_context: options.toolContext } : {}),
      ...(options.onFailure === 'restore' ? { on_failure: 'restore' } : {}),
      ...(options.resumedFrom === undefined ? {} : { resumed_from: options.resumedFrom }),
    },
  };
}

/** The request without defaults from the agent's definition, so that a retry after a deployment is the same request. */
const asRequested = (body: JsonObject, request: OwnEnqueueOptions): JsonObject => {
  const { model, strategy, strategyOptions, idleTimeoutMs } = request;
  const options = { ...(body['options'] as JsonObject) };
  const { thread_version: _, ...rest } = body;
  for (const derived of [
    ...['prompt', 'named_strategy', 'strategy_options', 'selection', 'takes_input'],
    ...['agent_model', 'version', 'pinned'],
  ])
    delete options[derived];
  const asked = {
    ...options,
    idle_timeout_ms: idleTimeoutMs,
    ...(request.version === undefined ? {} : { version: request.version }),
    ...(strategyOptions ? { strategy_options: snakeKeys(strategyOptions) } : {}),
  };
  const requested = { model, strategy, options: asked };
  return { ...rest, ...(requested as JsonObject) };
};

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
    ...{ threadId, body, id, requestId: options.requestId ?? id, busy: options.busy },
    traceparent: options.traceparent,
    hash: requestHash(asRequested(body, options)),
    createThread: options.threadId === undefined || options.createThread === true,
  };
}

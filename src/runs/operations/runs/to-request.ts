import type { EnqueueDeps, EnqueueOptions, OwnEnqueueOptions } from './enqueue-options.ts';
import { optionsWith } from '../../../agent/definition/options.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { undecided, type RunOptions } from '../../../agent/definition/run-options.ts';
import type { Json, JsonObject } from '../../../agent/context/message.ts';
import { readChain, storedModels, type ModelChain } from '../../../agent/models/model-chain.ts';
import { acceptContent, assertNotBlank } from '../../../agent/models/accept-content.ts';
import { assertId, assertRefs, newRunId, newThreadId } from '../../../base/checks/ids.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import { assertWhole } from '../../../base/checks/values.ts';
import { snakeKeys, toSnakeCase } from '../../../base/common/case.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { idsOf } from '../../../database/store/tenant/tenant-settings.ts';
import { usualOutputTokens } from '../../limiter/limited-run.ts';
import type { ChosenVersion } from '../agents/version-chooser.ts';
import { assertRunOverrides } from './allow-overrides.ts';
import { checkPolicy, toRunOptions } from './check-overrides.ts';
import { BatchRun, maxDelayMs } from './declaration.ts';
import { type CheckedRequest, type EnqueueContext, requestHash } from './enqueue-request.ts';

const enqueueKeys = { ...BatchRun.shape, traceparent: true } as unknown as KeysOf<EnqueueOptions>;

/** Builds the request for a run. Rejects every mistake that shows without reading the thread, before any write. */
export async function toRequest(
  { db, agents: all, models, counting, admission, rollouts }: EnqueueDeps,
  options: OwnEnqueueOptions,
  { caller, from }: Pick<EnqueueContext, 'caller' | 'from'> = {},
): Promise<CheckedRequest> {
  refuseUnknownKeys(
    'enqueue',
    { ...options, resumedFrom: undefined, runId: undefined, answers: undefined, parent: undefined },
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
  const chain = options.model === undefined ? agent.chain : readChain(options.model, 'The request');
  const [model] = chain.models;
  for (const each of chain.models) {
    models.check(each);
    await checkPolicy(counting, each, options.contextPolicy);
  }
  const id = options.runId ?? newRunId();
  const body = await toBody(agents, options, chain, options.strategy ?? agent.strategy, chosen);
  const { limitKeys = {}, input } = options;
  const { settings = {} } = body['options'] as RunOptions;
  await admission?.check(
    { threadId, runId: id, agent: agent.name, model, caller: caller ?? null, limitKeys, tenant: db.tenant },
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
  chain: ModelChain,
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
  const { model, options: ofModels } = storedModels(chain, agentModel);
  const overrides = await toRunOptions(agents, options.agent, { ...options, input });
  assertStorable({ input, models: chain.models, extraRefs: options.extraRefs, overrides }, 'The request');
  return {
    agent: options.agent,
    strategy,
    model,
    ...(contextRef === undefined ? {} : { context_ref: contextRef }),
    ...timesOf(options),
    ...(options.parent ? { parent: { ...options.parent } } : {}),
    ...(kept ? { thread_version: version } : {}),
    ...(options.answers
      ? {}
      : { input: { content: input as Json, ...(options.extraRefs ? { refs: options.extraRefs } : {}) } }),
    options: {
      ...(overrides as unknown as JsonObject),
      ...(version === undefined ? {} : { version }),
      ...(resume === 'pinned' ? { pinned: true } : {}),
      ...(ofModels as JsonObject),
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

function assertSchedule({ delayMs, ttlMs }: EnqueueOptions): void {
  assertWhole(delayMs, 'delayMs', { maximum: maxDelayMs, hint: 'Omit it to start at once.' });
  assertWhole(ttlMs, 'ttlMs', { minimum: 1, maximum: maxDelayMs, hint: 'Omit it to wait without limit.' });
}

/** The times as `enqueue_run` takes them. */
const timesOf = ({ delayMs, ttlMs }: EnqueueOptions): JsonObject => ({
  ...(delayMs ? { delay_ms: delayMs } : {}),
  ...(ttlMs === undefined ? {} : { ttl_ms: ttlMs }),
});

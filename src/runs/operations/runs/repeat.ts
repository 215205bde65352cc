import type { ModelName } from '../../../agent/models/providers.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId, newRunId, newThreadId } from '../../../base/checks/ids.ts';
import type { RunHandle, RunRef } from '../../../database/store/run/run.ts';
import { enqueueRequest, requestHash } from './enqueue-request.ts';
import type { EnqueueDeps, EnqueueOptions } from './enqueue.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import { contentIds } from '../../../agent/context/large-content.ts';
import type { JsonObject, ContentPart } from '../../../agent/context/message.ts';
import { idsOf } from '../../../database/store/tenant/derived-ids.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { PolicyOption } from '../../../agent/policy/policy.ts';
import { storedOption } from '../../../agent/policy/read-policy.ts';
import { versionIn, type RunOptions, repeatedOptions, undecided } from '../../../agent/definition/run-options.ts';
import { assertRunOverrides } from './allow-overrides.ts';
import { checkPolicy, selectStrategy } from './check-overrides.ts';
import { fork } from '../threads/fork.ts';
import { isTaken } from '../../../database/store/fork/fork-thread.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { runNotFound } from '../../../database/store/missing.ts';
import { readRequest, type StoredRequest } from '../../../database/store/run/read-request.ts';

export interface RetryOptions {
  /** Replaces the run's model. */
  model?: ModelName;
  busy?: EnqueueOptions['busy'];
  /**
   * True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has asked it
   * gets the answer that the agent gave then.
   */
  freshChildren?: boolean;
  /** Repeating the id returns the same run; default: the new run's own id, so that each call starts a new run. */
  requestId?: string;
}

/** Accepts a run that repeats the request of an ended one. See `Runs.retry`. */
export async function retry(
  deps: EnqueueDeps,
  run: RunRef,
  { model, busy, freshChildren, requestId }: RetryOptions = {},
  caller?: string,
): Promise<RunHandle> {
  if (requestId !== undefined) assertId(requestId, 'The request id');
  const found = await requestOf(deps, run);
  if (!found.ended) {
    throw new LanefoldError('run_active', `Run ${run.id} has not ended.`, {
      hint: 'Wait for it to end, or cancel it.',
    });
  }
  if (model !== undefined) deps.models.check(model);
  const body = repeatedBody(found, run.id, model, freshChildren ? { fresh_children: true } : {});
  const id = newRunId();
  const hash = requestHash(body);
  const request = { threadId: run.threadId, body, id, requestId: requestId ?? id, hash, busy, createThread: false };
  return enqueueRequest(deps, request, { caller });
}

export interface RerunOptions {
  /** The id of the fork, on which nothing has been asked yet; default: derived from `requestId`, or a new id. */
  threadId?: string;
  /** Another version of its agent: a label or an id. Its model and strategy replace those of the run. */
  version?: string;
  /** Replaces the run's model. */
  model?: ModelName;
  /** Replaces the prompt of its lane; null: none. Every agent must allow it, because any may run on the fork. */
  systemPrompt?: string | null;
  /** Replaces its context policy. */
  contextPolicy?: PolicyOption;
  /** True: calls of other agents start new runs; see `RetryOptions`. */
  freshChildren?: boolean;
  /** Metadata of the fork. */
  metadata?: JsonObject;
  /** Repeating the id returns the same run. */
  requestId?: string;
}

/** Asks the question of a run again, on a fork of its lane as it was before the question. See `Runs.rerun`. */
export async function rerun(
  deps: EnqueueDeps,
  run: RunRef,
  { threadId, version, model, systemPrompt, contextPolicy, freshChildren, metadata, requestId }: RerunOptions,
  { caller, from }: { caller?: string | undefined; from: OverrideCaller },
): Promise<RunHandle> {
  const { db, models, counting } = deps;
  if (requestId !== undefined) assertId(requestId, 'The request id');
  const original = await requestOf(deps, run);
  const agents = deps.agents.under(original.agent, version ?? versionIn(original.options as RunOptions | null));
  const found = version === undefined ? original : underVersion(agents, original, version);
  if (found.user_seq === null) {
    throw new LanefoldError('invalid_input', `Run ${run.id} has not started, so it has no context to rerun.`, {
      hint: 'Wait until it starts, or enqueue its question yourself.',
    });
  }
  if (agents.names.length > 0 || from === 'http') {
    const request = omitUndefined({ agent: found.agent, version, model, systemPrompt, contextPolicy });
    assertRunOverrides(agents, models, request, from);
  }
  if (model !== undefined) models.check(model);
  await checkPolicy(counting, model ?? found.model, contextPolicy);
  const id = newRunId();
  const over: JsonObject = {
    retry_of_thread: run.threadId,
    ...(contextPolicy === undefined ? {} : { context_policy: storedOption(contextPolicy) }),
    ...(freshChildren ? { fresh_children: true } : {}),
  };
  const body = repeatedBody(found, run.id, model, over);
  const made = await fork(
    db,
    agents,
    run.threadId,
    {
      ...{ id: threadId ?? (requestId === undefined ? newThreadId() : (await idsOf(db)).thread(requestId)) },
      ...{ seq: found.user_seq - 1, contextRef: found.context_ref },
      ...omitUndefined({ metadata, systemPrompt }),
    },
    from,
    contentIds(found.input),
  );
  const asked = requestId ?? id;
  if (made.duplicate && (await isTaken(db, made.id, asked))) {
    throw new LanefoldError(
      'thread_exists',
      `Thread ${made.id} is already this fork, and another run was enqueued on it.`,
      {
        hint: 'Choose another id for the fork, or pass the request id of the first rerun to get its run.',
      },
    );
  }
  const hash = requestHash({ ...body, system_prompt: systemPrompt });
  const request = { threadId: made.id, body, id, requestId: asked, hash, createThread: false };
  return enqueueRequest(deps, request, { caller });
}

/** The request of a run, to repeat it. @throws LanefoldError `run_not_found`, `unknown_agent`, `invalid_input` */
async function requestOf({ db, agents }: EnqueueDeps, run: RunRef): Promise<StoredRequest & { input: JsonObject }> {
  const found = await readRequest(db, run.threadId, run.id);
  if (!found) throw runNotFound(run.threadId, run.id);
  const { input } = found;
  // a run that was handed over is repeated with the agent that it was asked of
  const { asked } = found.options as RunOptions;
  if (asked) Object.assign(found, asked);
  if (!input) {
    throw new LanefoldError('invalid_input', `Run ${run.id} has no stored input to repeat.`, {
      hint: 'A compaction has none, and the input of a run that ended before it started is deleted with its trace. Enqueue the input as a new run.',
    });
  }
  // a process without agents, such as the command line, leaves this check to the workers
  if (agents.names.length > 0) agents.get(found.agent);
  return { ...found, input };
}

/** The request of a run that repeats another one, with `otherModel` and with `over` merged over its options. */
function repeatedBody(
  { agent, strategy, model, context_ref, input, options }: StoredRequest & { input: JsonObject },
  retryOf: string,
  otherModel: string | undefined,
  over: JsonObject = {},
): JsonObject {
  const repeated = repeatedOptions(options ?? {});
  const { agent_model: agentModel = model, ...kept }: JsonObject = { ...repeated, retry_of: retryOf, ...over };
  const chosen = otherModel ?? model;
  const overridden = chosen === agentModel ? kept : { ...kept, agent_model: agentModel };
  return { agent, strategy, model: chosen, context_ref, input, options: overridden };
}

/**
 * The same request, addressed to another version of its agent: model, strategy and what goes with it come from the
 * definition of that version.
 *
 * @param agents where the agent is that version: see `AgentRegistry.under`
 */
function underVersion<Request extends StoredRequest>(
  agents: AgentRegistry,
  request: Request,
  version: string,
): Request {
  const decided = decidedAnew(agents, request);
  const pinned = agents.get(request.agent).resume === 'pinned' ? { pinned: true } : {};
  return { ...decided, options: { ...decided.options, version, ...pinned } };
}

/** A request as if its model, its strategy and what goes with that had been left to its agent. */
export function decidedAnew<Request extends StoredRequest>(agents: AgentRegistry, request: Request): Request {
  const agent = agents.get(request.agent);
  const input = (request.input?.['content'] ?? '') as string | ContentPart[];
  const { machine, selection, options } = selectStrategy(agents, request.agent, { input });
  const kept = undecided(request.options ?? {});
  const decided = {
    ...(options ? { strategy_options: options } : {}),
    ...(selection ? { selection: { ...selection } as unknown as JsonObject } : {}),
    ...(machine.input === false ? { takes_input: false } : {}),
    ...(machine.prompt && agent.instructions === null ? { prompt: machine.prompt } : {}),
  };
  return { ...request, model: agent.model, strategy: agent.strategy, options: { ...kept, ...decided } };
}

import type { ModelName } from '../../../agent/models/registry/model-name.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import { contentIds } from '../../../agent/context/large-content.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId, newRunId, newThreadId } from '../../../base/checks/ids.ts';
import { idsOf } from '../../../database/store/tenant/derived-ids.ts';
import { omitUndefined } from '../../../base/common/omit-undefined.ts';
import type { PolicyOption } from '../../../agent/policy/policy.ts';
import { storedOption } from '../../../agent/policy/read-policy.ts';
import type { RunHandle, RunRef } from '../../../database/store/run/run.ts';
import { versionIn, type RunOptions } from '../../../agent/definition/run-options.ts';
import { enqueueRequest, requestHash } from './enqueue-request.ts';
import { assertRunOverrides } from './allow-overrides.ts';
import { checkPolicy } from './check-overrides.ts';
import type { EnqueueDeps } from './enqueue.ts';
import { fork } from '../threads/fork.ts';
import { repeatedBody, requestOf, underVersion } from './original-request.ts';
import { isTaken } from '../../../database/store/fork/fork-thread.ts';

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

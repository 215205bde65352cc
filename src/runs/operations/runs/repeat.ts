import type { EnqueueDeps } from './enqueue-options.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { contentIds } from '../../../agent/context/large-content.ts';
import { type RunOptions, versionIn } from '../../../agent/definition/run-options.ts';
import { storedOption } from '../../../agent/policy/read-policy.ts';
import { assertRef, newRunId, newThreadId } from '../../../base/checks/ids.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { idsOf } from '../../../database/store/tenant/tenant-settings.ts';
import { assertRunOverrides } from './allow-overrides.ts';
import { checkPolicy } from './check-overrides.ts';
import { fork } from '../threads/create.ts';
import { isTaken } from '../../../database/store/fork/fork-thread.ts';
import type { RunHandle, RunRef } from '../../../database/store/run/run.ts';
import { enqueueRequest, requestHash } from './enqueue-request.ts';
import { repeatedBody, requestOf, underVersion } from './repeated-request.ts';
import type { DeclaredRuns } from './types.ts';

type RetryOptions = Parameters<DeclaredRuns['retry']>[1];
type RerunOptions = Parameters<DeclaredRuns['rerun']>[1];

/** Accepts a run that repeats the request of an ended one. See `Runs.retry`. */
export async function retry<RESULT>(
  deps: EnqueueDeps,
  run: RunRef<RESULT>,
  { model, busy, freshChildren, requestId, caller }: RetryOptions = {},
): Promise<RunHandle<RESULT>> {
  assertRef(run);
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
  return (await enqueueRequest(deps, request, { caller })) as RunHandle<RESULT>;
}

/** Asks the question of a run again, on a fork of its lane as it was before the question. See `Runs.rerun`. */
export async function rerun<RESULT>(
  deps: EnqueueDeps,
  run: RunRef<RESULT>,
  options: RerunOptions = {},
): Promise<RunHandle<RESULT>> {
  const { db, models, counting } = deps;
  const { threadId, version, model, systemPrompt, contextPolicy, freshChildren, metadata, requestId } = options;
  const { caller, from = 'library' } = options;
  assertRef(run);
  const asked = await requestOf(deps, run);
  const original = { ...asked, context_ref: asked.asked_in };
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
      id: threadId ?? (requestId === undefined ? newThreadId() : (await idsOf(db)).thread(requestId)),
      from,
      atSeq: found.user_seq - 1,
      contextRef: found.context_ref,
      ...omitUndefined({ metadata, systemPrompt }),
    },
    contentIds(found.input),
  );
  const askedAs = requestId ?? id;
  if (made.duplicate && (await isTaken(db, made.id, askedAs))) {
    throw new LanefoldError(
      'thread_exists',
      `Thread ${made.id} is already this fork, and another run was enqueued on it.`,
      {
        hint: 'Choose another id for the fork, or pass the request id of the first rerun to get its run.',
      },
    );
  }
  const hash = requestHash({ ...body, system_prompt: systemPrompt });
  const request = { threadId: made.id, body, id, requestId: askedAs, hash, createThread: false };
  return (await enqueueRequest(deps, request, { caller })) as RunHandle<RESULT>;
}

import type { EnqueueDeps } from '../runs/enqueue-options.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId, newRunId } from '../../../base/checks/ids.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import type { CompactionRequest } from '../../../agent/strategies/records.ts';
import { assertWhole } from '../../../base/checks/values.ts';
import { assertRunOverrides } from '../runs/allow-overrides.ts';
import { enqueueRequest, type RequestDeps, requestHash } from '../runs/enqueue-request.ts';
import { readLaneAgent } from '../../../database/store/context/read-context.ts';
import type { CompactionHandle } from './compaction-result.ts';
import { optionsOfLane, type OptionsOfLane } from './options-of-lane.ts';
import type { CompactOptions } from './types.ts';

/** Asks for a compaction of a lane. See `Contexts.compact`. */
export async function compact(
  deps: EnqueueDeps,
  threadId: string,
  options: CompactOptions & { caller?: string; from?: OverrideCaller } = {},
): Promise<CompactionHandle> {
  const { contextRef: lane, range, keepTurns, agent: given, model: other, caller, from = 'library' } = options;
  assertId(threadId, 'The thread id');
  assertWhole(range?.toSeq, 'range.toSeq', { minimum: range?.fromSeq ?? 0, hint: 'Nothing was written.' });
  const thread = await readThread(deps.db, threadId);
  const contextRef = lane ?? thread.activeContextRef;
  const latest = await readLaneAgent(deps.db, threadId, contextRef);
  const agent = given ?? latest?.agent;
  if (agent === undefined) {
    throw new LanefoldError('invalid_input', `Lane ${contextRef} has no run whose agent could summarise it.`, {
      hint: 'Pass agent: its model and prompt are used for the summary.',
    });
  }
  const ofLane = optionsOfLane(deps.agents, agent, latest);
  const agents = deps.agents.under(agent, ofLane.version);
  const known = agents.names.length > 0 ? agents.get(agent) : undefined;
  if (other !== undefined) {
    if (known || from === 'http') assertRunOverrides(agents, deps.models, { agent, model: other }, from);
    deps.models.check(other);
  }
  const model = other ?? (latest?.agent === agent ? latest.model : undefined) ?? known?.model;
  if (model === undefined)
    throw new LanefoldError('invalid_input', 'No model is known for the summary.', { hint: 'Pass model.' });
  const request: CompactionRequest = {
    cause: 'request',
    ...(range ? { range: [range.fromSeq, range.toSeq] } : {}),
    ...(keepTurns === undefined ? {} : { keepTurns }),
  };
  return startCompaction(deps, threadId, { agent, model, contextRef, request, options: ofLane, caller });
}

/** Accepts a compaction run, or returns the lane's compaction run that has not ended yet. */
export async function startCompaction(
  deps: RequestDeps,
  threadId: string,
  of: {
    agent: string;
    model: string;
    contextRef: string;
    request: CompactionRequest;
    options: OptionsOfLane;
    caller: string | undefined;
  },
): Promise<CompactionHandle> {
  const { agent, model, contextRef, request, options, caller } = of;
  const id = newRunId();
  const body: JsonObject = {
    agent,
    strategy: 'compaction',
    model,
    context_ref: contextRef,
    options: { ...options, compaction: { ...request }, takes_input: false },
  };
  const run = {
    threadId,
    body,
    id,
    requestId: id,
    hash: requestHash(body),
    busy: 'wait' as const,
    createThread: false,
  };
  return enqueueRequest(deps, run, { caller }) as Promise<CompactionHandle>;
}

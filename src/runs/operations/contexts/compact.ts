import type { EnqueueDeps } from '../runs/enqueue-options.ts';
import type { ModelName } from '../../../agent/models/providers.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId, newRunId } from '../../../base/checks/ids.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';
import type { CompactionRequest } from '../../../agent/strategies/records.ts';
import { assertWhole } from '../../../base/checks/whole-number.ts';
import { assertRunOverrides } from '../runs/allow-overrides.ts';
import { enqueueRequest, type RequestDeps, requestHash } from '../runs/enqueue-request.ts';
import { readLaneAgent } from '../../../database/store/context/read-context.ts';
import { optionsOfLane, type OptionsOfLane } from './options-of-lane.ts';

export interface CompactOptions {
  /** The lane; default: the active one. */
  contextRef?: string;
  /** Entries to summarise, inclusive; groups that are only partly inside stay. Default: all but the newest turns. */
  range?: { fromSeq: number; toSeq: number };
  /** How many of the newest turns stay; default: as the context policy says. */
  keepTurns?: number;
  /** The agent whose model, prompt and tools the request uses; default: the agent of the lane's latest run. */
  agent?: string;
  /** Default: the model of the lane's latest run, whose provider has the context in its cache. */
  model?: ModelName;
}

/** The result of a compaction run; the run's result is null if there was nothing to summarise. */
export interface CompactionResult {
  op_id: string;
  /** The first and last entry of the summarised messages, and how many messages. */
  covered: [from: number, to: number];
  messages: number;
  cause: CompactionRequest['cause'];
  model: string;
  run_id: string;
  usage: JsonObject;
  prompt_version: number;
  /** Size of the context, counted by the heuristic. */
  tokens_before: number;
  tokens_after: number;
}

/** Asks for a compaction of a lane. See `Contexts.compact`. */
export async function compact(
  deps: EnqueueDeps,
  threadId: string,
  { contextRef: lane, range, keepTurns, agent: given, model: other }: CompactOptions,
  { caller, from }: { caller?: string | undefined; from: OverrideCaller },
): Promise<RunHandle<CompactionResult | null>> {
  assertId(threadId, 'The thread id');
  if (lane !== undefined) assertId(lane, 'The context_ref');
  const hint = 'Nothing was written.';
  assertWhole(keepTurns, 'keepTurns', { maximum: 10_000, hint });
  assertWhole(range?.fromSeq, 'range.fromSeq', { hint });
  assertWhole(range?.toSeq, 'range.toSeq', { minimum: range?.fromSeq ?? 0, hint });
  const thread = await readThread(deps.db, threadId);
  const contextRef = lane ?? thread.activeContextRef;
  const latest = await readLaneAgent(deps.db, threadId, contextRef);
  const agent = given ?? latest?.agent;
  if (agent === undefined) {
    throw new LanefoldError('invalid_input', `Lane ${contextRef} has no run whose agent could summarise it.`, {
      hint: 'Pass agent: its model and prompt are used for the summary.',
    });
  }
  const options = optionsOfLane(deps.agents, agent, latest);
  const agents = deps.agents.under(agent, options.version);
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
  return startCompaction(deps, threadId, { agent, model, contextRef, request, options, caller });
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
): Promise<RunHandle<CompactionResult | null>> {
  const { agent, model, contextRef, request, options, caller } = of;
  const id = newRunId();
  const body: JsonObject = {
    ...{ agent, strategy: 'compaction', model, context_ref: contextRef },
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
  return enqueueRequest(deps, run, { caller }) as Promise<RunHandle<CompactionResult | null>>;
}

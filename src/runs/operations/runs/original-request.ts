import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { ContentPart, JsonObject } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { runNotFound } from '../../../database/store/missing.ts';
import { readRequest, type StoredRequest } from '../../../database/store/run/read-request.ts';
import type { RunOptions } from '../../../agent/definition/run-options.ts';
import { selectStrategy } from './choose-strategy.ts';
import type { EnqueueDeps } from './enqueue.ts';
import type { RunRef } from '../../../database/store/run/run.ts';

/** Options that are not repeated: those added when a run is accepted, and those that say where it came from. */
const own = ['active_lane', 'resumed_from', 'parent', 'retry_of_thread', 'fresh_children'];

/** The request of a run, to repeat it. @throws LanefoldError `run_not_found`, `unknown_agent`, `invalid_input` */
export async function requestOf(
  { db, agents }: EnqueueDeps,
  run: RunRef,
): Promise<StoredRequest & { input: JsonObject }> {
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
export function repeatedBody(
  { agent, strategy, model, context_ref, input, options }: StoredRequest & { input: JsonObject },
  retryOf: string,
  otherModel: string | undefined,
  over: JsonObject = {},
): JsonObject {
  const repeated = { ...options };
  for (const key of own) delete repeated[key];
  if (repeated['pinned'] !== undefined) repeated['pinned'] = true;
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
export function underVersion<Request extends StoredRequest>(
  agents: AgentRegistry,
  request: Request,
  version: string,
): Request {
  const decided = decidedAnew(agents, request);
  const pinned = agents.get(request.agent).resume === 'pinned' ? { pinned: true } : {};
  return { ...decided, options: { ...decided.options, version, ...pinned } };
}

/** What the definition of an agent decides of a request: see `decidedAnew`. */
const derived = ['agent_model', 'named_strategy', 'strategy_options', 'selection', 'takes_input', 'prompt', 'pinned'];

/** A request as if its model, its strategy and what goes with that had been left to its agent. */
export function decidedAnew<Request extends StoredRequest>(agents: AgentRegistry, request: Request): Request {
  const agent = agents.get(request.agent);
  const input = (request.input?.['content'] ?? '') as string | ContentPart[];
  const { machine, selection, options } = selectStrategy(agents, request.agent, { input });
  const kept: JsonObject = { ...request.options };
  for (const key of derived) delete kept[key];
  const decided = {
    ...(options ? { strategy_options: options } : {}),
    ...(selection ? { selection: { ...selection } as unknown as JsonObject } : {}),
    ...(machine.input === false ? { takes_input: false } : {}),
    ...(machine.prompt && agent.instructions === null ? { prompt: machine.prompt } : {}),
  };
  return { ...request, model: agent.model, strategy: agent.strategy, options: { ...kept, ...decided } };
}

import type { EnqueueDeps } from './enqueue-options.ts';
import { selectStrategy } from './check-overrides.ts';
import type { ContentPart, JsonObject } from '../../../agent/context/message.ts';
import { storedModels } from '../../../agent/models/model-chain.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { repeatedOptions, type RunOptions, undecided } from '../../../agent/definition/run-options.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { runNotFound } from '../../../database/store/missing.ts';
import { readRequest, type StoredRequest } from '../../../database/store/run/read-request.ts';
import type { RunRef } from '../../../database/store/run/run.ts';

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
  const repeated = repeatedOptions(options ?? {});
  const { agent_model: agentModel = model, ...all }: JsonObject = { ...repeated, retry_of: retryOf, ...over };
  const chosen = otherModel ?? model;
  const { fallback: _, ...alone } = all;
  const kept = otherModel === undefined ? all : alone;
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
  const { model, options: ofModels } = storedModels(agent.chain, agent.model);
  return { ...request, model, strategy: agent.strategy, options: { ...kept, ...decided, ...(ofModels as JsonObject) } };
}

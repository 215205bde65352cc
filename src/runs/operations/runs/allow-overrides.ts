import { refusedOverrides, type OverrideCaller } from '../../../agent/definition/overridable.ts';
import { iterationLimit, type AgentRegistry, type ReadyAgent } from '../../../agent/definition/registry.ts';
import type { Strategy } from '../../../agent/strategies/registry.ts';
import { optionsWith } from '../../../agent/definition/options.ts';
import { toSnakeCase } from '../../../base/common/case.ts';
import type { Message } from '../../../agent/context/message.ts';
import { defaultIdleMs } from '../../../agent/definition/agent.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { ContentInput } from '../../../agent/models/accept-content.ts';
import { readChain } from '../../../agent/models/model-chain.ts';
import type { ModelRegistry } from '../../../agent/models/registry.ts';
import { type RunOverrides, selectStrategy } from './check-overrides.ts';

type Given = Parameters<typeof refusedOverrides>[1];

export interface OverridingRequest extends RunOverrides {
  agent: string;
  /** Only for a run. */
  input?: ContentInput;
  /** Only for a replayed call or a rerun; any other run takes its prompt from its thread. */
  systemPrompt?: string | null | undefined;
}

/**
 * Rejects overrides of a run that the agent does not list for this caller. A caller over HTTP may only lower limits. It
 * may name a scripted model only where the operator allows those, because such a model calls tools with arguments the
 * caller chooses.
 *
 * @param agents where the agent is the version that executes the run: see `AgentRegistry.under`
 * @throws LanefoldError `override_not_allowed`
 */
export function assertRunOverrides(
  agents: AgentRegistry,
  models: ModelRegistry,
  request: OverridingRequest,
  from: OverrideCaller,
): void {
  const agent = agents.get(request.agent);
  const given = fieldsOf(request);
  const refused = refusedOverrides(agent.overridable[from], given);
  if (refused.length > 0)
    throw notAllowed(refused, `agent ${agent.name} does not list it as overridable`, listHint(refused));
  if (from === 'library') return;
  const { model } = request;
  const asked = model === undefined ? [] : readChain(model, 'The request').models;
  if (asked.some((each) => !agent.chain.models.includes(each) && !models.isRequestable(each))) {
    throw notAllowed(['model'], 'requests may not choose a scripted model', 'Name another model.');
  }
  for (const [field, limit] of limitsOf(agent, executing(agents, request))) {
    const value = limitOf(agent, request, field);
    if (value === undefined || limit === undefined || value <= limit) continue;
    throw notAllowed(
      [field],
      `a request may only lower the limit of agent ${agent.name}, which is ${limit}`,
      'Pass a lower value.',
    );
  }
}

/**
 * Rejects changes of a thread's configuration unless every agent of this process lists them, because any of them may
 * run on the thread.
 *
 * @throws LanefoldError `override_not_allowed`
 */
export function assertThreadOverrides(agents: AgentRegistry, given: Given, from: OverrideCaller): void {
  const fields = refusedOverrides([], given);
  if (from === 'http' && agents.names.length === 0 && fields.length > 0)
    throw notAllowed(
      fields,
      'no agent of this server lists it as overridable',
      'Start the API with the agents of the workers.',
    );
  for (const { name, overridable } of agents.names.flatMap((each) => agents.versions(each))) {
    const refused = refusedOverrides(overridable[from], given);
    if (refused.length === 0) continue;
    throw notAllowed(
      refused,
      `agent ${name}, which may run on the thread, does not list it as overridable`,
      `${listHint(refused)} Every agent must list it.`,
    );
  }
}

function fieldsOf({ settings, ...request }: OverridingRequest): Given {
  const { headers, providerOptions, ...rest } = settings ?? {};
  const given = { ...request, headers: request.headers ?? headers, providerOptions };
  return Object.values(rest).some((value) => value !== undefined) ? { ...given, settings: rest } : given;
}

/** The strategy whose limits apply. */
function executing(agents: AgentRegistry, { agent, input, strategy, strategyOptions }: OverridingRequest): Strategy {
  // an invalid input is rejected later, where it is stored
  if (typeof input !== 'string' && !Array.isArray(input))
    return agents.strategies.find(strategy ?? agents.get(agent).strategy);
  // a strategy that chooses another one does so by the text of the input
  const given = {
    input: input as Message['content'],
    ...(strategy ? { strategy } : {}),
    ...(strategyOptions ? { strategyOptions } : {}),
  };
  return selectStrategy(agents, agent, given).machine;
}

/** What a caller over HTTP may only lower, and the values of the agent. */
const limitsOf = (agent: ReadyAgent, machine: Strategy): [Limit, number | undefined][] => [
  ...lowered.map((name): [Limit, number | undefined] => [
    name,
    name === 'maxIterations' ? iterationLimit(agent, machine) : agent[name],
  ]),
  ['settings.maxOutputTokens', agent.settings.max_output_tokens],
];

const lowered = optionsWith({ override: 'lower' });
type Limit = (typeof lowered)[number] | 'settings.maxOutputTokens';

function limitOf(agent: ReadyAgent, request: OverridingRequest, field: Limit): number | undefined {
  if (field === 'settings.maxOutputTokens') return request.settings?.maxOutputTokens;
  const value = request[field];
  return field === 'idleTimeoutMs' && value === 0 ? defaultIdleMs(request.toolTimeoutMs ?? agent.toolTimeoutMs) : value;
}

const listHint = (refused: string[]): string =>
  `Leave it out, or list it where the agent is defined: overridable: [${refused.map((field) => `'${field}'`).join(', ')}].`;

const notAllowed = (fields: string[], why: string, hint: string): LanefoldError =>
  new LanefoldError('override_not_allowed', `This request may not set ${fields.join(', ')}: ${why}.`, {
    hint,
    details: { fields, errors: fields.map((field) => ({ path: pathOf(field), message: 'Not allowed here.' })) },
  });

/** The name of the field over HTTP; the keys of a tool context are the caller's, so they stay as they are. */
const pathOf = (field: string): string =>
  field.startsWith('toolContext.') ? `tool_context${field.slice(11)}` : toSnakeCase(field);

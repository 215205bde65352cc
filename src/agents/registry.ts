import { createHash } from 'node:crypto';
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import canonicalize from 'canonicalize';
import { LanefoldError } from '../errors.ts';
import { fromCallSettings } from '../models/settings/call-settings.ts';
import type { ModelSettings } from '../models/settings/settings.ts';
import type { ReadyContract } from '../contracts/contract.ts';
import { readContract } from '../contracts/read-contract.ts';
import type { StoredPolicy } from '../policy/policy.ts';
import { readPolicy } from '../policy/read-policy.ts';
import { describeTools } from '../tools/descriptors.ts';
import { defaultMaxResultBytes } from '../tools/result.ts';
import { toolsByName, unknownTools } from '../tools/lookup.ts';
import { normaliseTools, type ToolListing } from '../tools/normalise.ts';
import type { Tool } from '../tools/tool.ts';
import { createStrategyRegistry, type Strategy, type StrategyRegistry } from '../strategies/registry.ts';
import { iterationLimit } from './iteration-limit.ts';
import { defineAgent, type Agent, type AgentDefinition } from './agent.ts';
import { assertTransformer, findTransformer } from './find-transformer.ts';
import type { RequestTransformer } from './transformer.ts';
import { versionOf, type AgentVersion } from './version.ts';

/** An agent ready for runs: its tools are resolved, its settings in their stored form. */
export interface ReadyAgent extends Omit<
  Agent,
  | 'tools'
  | 'settings'
  | 'requestTransformer'
  | 'output'
  | 'contextPolicy'
  | 'strategy'
  | 'maxIterations'
  | 'maxToolResultBytes'
> {
  /** Name of its strategy. */
  readonly strategy: string;
  /** Undefined: the default of the strategy. */
  readonly maxIterations: number | undefined;
  readonly maxToolResultBytes: number;
  /** The same limit for what stays in the log whatever its size: effects, and results that a tool marks. */
  readonly maxInlineBytes: number;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly requestTransformer?: RequestTransformer;
  readonly output?: ReadyContract | undefined;
  readonly contextPolicy?: StoredPolicy | undefined;
  readonly descriptors: LanguageModelV4FunctionTool[];
  readonly settings: ModelSettings;
  /** SHA-256 of everything that affects how a run continues; checkpoint tokens are bound to it. */
  readonly fingerprint: string;
  readonly version: AgentVersion;
}

export interface AgentRegistry {
  /** The built-in strategies, those of the agents, and those passed separately. */
  readonly strategies: StrategyRegistry;
  readonly names: string[];
  /** @throws LanefoldError `unknown_agent` */
  get(name: string): ReadyAgent;
  has(name: string): boolean;
  /** Tools that belong to no agent; threads may register them. */
  readonly extraTools: ReadonlyMap<string, Tool>;
  /** Every tool a thread may register or unregister. */
  readonly toolNames: string[];
  /**
   * A tool that a request may name: a tool of the agent, or one that belongs to no agent.
   *
   * @throws LanefoldError `unknown_tool`
   */
  tool(agent: string, name: string): Tool;
  /** A transformer of the agent, or a shared one. @throws LanefoldError `invalid_request_transformer` */
  transformer(agent: string, name: string): RequestTransformer;
}

export interface RegistryOptions {
  tools?: ToolListing | undefined;
  requestTransformers?: Record<string, RequestTransformer> | undefined;
  strategies?: readonly Strategy[] | undefined;
  /** Tools that every agent has, even if the tool list of a request leaves them out. */
  always?: readonly Tool[] | undefined;
  /** For agents that do not set one. */
  maxToolResultBytes?: number | undefined;
}

/** Resolves the tools of all agents. Rejects two agents with the same name as `invalid_agent`. */
export async function createAgentRegistry(
  definitions: readonly AgentDefinition[],
  {
    tools = [],
    requestTransformers = {},
    strategies = [],
    always = [],
    maxToolResultBytes = defaultMaxResultBytes,
  }: RegistryOptions = {},
): Promise<AgentRegistry> {
  const agents = new Map<string, ReadyAgent>();
  for (const [name, transformer] of Object.entries(requestTransformers)) assertTransformer(name, transformer);
  for (const definition of definitions) {
    const defined = defineAgent(definition);
    const limits = {
      maxToolResultBytes: defined.maxToolResultBytes ?? maxToolResultBytes,
      maxInlineBytes: defined.maxToolResultBytes ?? defaultMaxResultBytes,
    };
    const agent = await ready({ ...defined, ...limits }, requestTransformers, always);
    if (agents.has(agent.name)) {
      throw new LanefoldError('invalid_agent', `Two agents are named ${JSON.stringify(agent.name)}.`, {
        hint: 'Rename one of them.',
      });
    }
    agents.set(agent.name, agent);
  }
  const names = [...agents.keys()];
  for (const { name, onEnd } of agents.values())
    if (typeof onEnd === 'object' && !agents.has(onEnd.request.agent))
      throw new LanefoldError(
        'invalid_agent',
        `Agent ${name} hands its runs on to the agent ${onEnd.request.agent}, which does not exist.`,
        { hint: `Pass both to createLanefold: agents: [${name}, …].` },
      );
  for (const { name, tools: own } of agents.values())
    for (const { toAgent } of own.values())
      if (toAgent !== undefined && !agents.has(toAgent))
        throw new LanefoldError(
          'invalid_agent',
          `Agent ${name} has a tool for the agent ${toAgent}, which does not exist.`,
          {
            hint: `Pass both to createLanefold: agents: [${name}, …].`,
          },
        );
  const extra = await normaliseTools(tools);
  const extraTools = toolsByName(extra);
  const toolNames = [
    ...new Set([...extraTools.keys(), ...[...agents.values()].flatMap((agent) => [...agent.tools.keys()])]),
  ].sort();
  const get = (name: string): ReadyAgent => {
    const agent = agents.get(name);
    if (agent) return agent;
    throw new LanefoldError('unknown_agent', `Agent ${JSON.stringify(name)} does not exist.`, {
      hint:
        names.length > 0 ? `Known agents: ${names.join(', ')}.` : 'Pass agents: [defineAgent({…})] to createLanefold.',
      details: { agent: name, known: names },
    });
  };
  const own = definitions.flatMap(({ strategy }) => (typeof strategy === 'object' ? strategy : []));
  return {
    strategies: createStrategyRegistry([...strategies, ...own]),
    names,
    extraTools,
    toolNames,
    has: (name) => agents.has(name),
    get,
    tool(agent, name) {
      const own = get(agent).tools;
      const tool = own.get(name) ?? extraTools.get(name);
      if (tool) return tool;
      throw unknownTools([name], [...own.keys(), ...extraTools.keys()]);
    },
    transformer: (agent, name) => findTransformer(name, get(agent).requestTransformers, requestTransformers),
  };
}

async function ready(
  {
    requestTransformer: given,
    output: contract,
    contextPolicy: policy,
    strategy: chosen,
    ...agent
  }: Agent & Pick<ReadyAgent, 'maxToolResultBytes' | 'maxInlineBytes'>,
  shared: Record<string, RequestTransformer>,
  always: readonly Tool[],
): Promise<ReadyAgent> {
  const tools = Object.freeze([...(await normaliseTools(agent.tools)), ...always]);
  const strategy = typeof chosen === 'string' ? chosen : chosen.name;
  const transformer = typeof given === 'string' ? findTransformer(given, agent.requestTransformers, shared) : given;
  const output = contract && (await readContract(contract));
  const contextPolicy = policy === undefined ? undefined : readPolicy(policy);
  const resolved = {
    ...agent,
    strategy,
    maxIterations: agent.maxIterations,
    ...(output ? { output } : {}),
    ...(contextPolicy ? { contextPolicy } : {}),
    ...(transformer ? { requestTransformer: transformer } : {}),
    tools: toolsByName(tools),
    descriptors: describeTools(tools),
    settings: fromCallSettings(agent.settings),
  };
  return {
    ...resolved,
    version: versionOf(resolved),
    fingerprint: createHash('sha256')
      .update(
        canonicalize({
          version: 1,
          model: agent.model,
          strategy,
          instructions: agent.instructions,
          maxIterations: iterationLimit(agent),
          ...(agent.strategyOptions ? { strategyOptions: agent.strategyOptions } : {}),
          streaming: agent.streaming,
          tools: tools.map((tool) => tool.name).sort(),
          toolLimits: [agent.toolTimeoutMs, agent.toolMaxRetries, agent.toolRetryBackoffMs, agent.toolConcurrency],
          maxToolCalls: agent.maxToolCalls,
          // The name is the only identity of a function that survives a deployment.
          ...(output ? { output: [output.schema, output.maxRepairs, output.mode, output.repair?.name ?? null] } : {}),
          ...(contextPolicy ? { contextPolicy } : {}),
          ...(given ? { transformer: typeof given === 'string' ? given : given.name } : {}),
        }) as string,
      )
      .digest('base64url'),
  };
}

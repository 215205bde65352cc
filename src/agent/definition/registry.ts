import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { fromCallSettings, type ModelSettings } from '../models/settings.ts';
import { readContract } from '../contracts/read-contract.ts';
import { readPolicy } from '../policy/read-policy.ts';
import {
  describeTools,
  toolsByName,
  unknownTools,
  normaliseTools,
  type RenamedTool,
  type ToolListing,
} from '../tools/toolset.ts';
import { defaultMaxResultBytes } from '../tools/outcome.ts';
import type { Tool } from '../tools/tool.ts';
import { createStrategyRegistry, type Strategy, type StrategyRegistry } from '../strategies/registry.ts';
import { defineAgent, type Agent } from './agent.ts';
import type { AgentDefinition } from './definition.ts';
import { assertTransformer, findTransformer, type RequestTransformer } from './transformer.ts';
import { createDefinitionRedactor, versionOf, type AgentVersion, type Resolved } from './version.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { ReadyContract } from '../contracts/contract.ts';
import { readChain, type ModelChain } from '../models/model-chain.ts';
import type { ModelName } from '../models/providers.ts';
import type { StoredPolicy } from '../policy/policy.ts';
import type { StrategyMachine } from '../strategies/machine.ts';

interface RegistryOptions {
  tools?: ToolListing | undefined;
  requestTransformers?: Record<string, RequestTransformer> | undefined;
  strategies?: readonly Strategy[] | undefined;
  /** Tools that every agent has, even if the tool list of a request leaves them out. */
  always?: readonly Tool[] | undefined;
  /** For agents that do not set one. */
  maxToolResultBytes?: number | undefined;
  /** Keys whose values are hidden in the versions of agents, besides the default ones. */
  redactKeys?: readonly string[] | undefined;
  /** Told of each tool of an MCP server that got another name; `agent` is missing for tools that requests add. */
  onRename?: ((renamed: RenamedTool & { agent?: string }) => void) | undefined;
}

/** Resolves the tools of all agents. Rejects two agents with the same name and label as `invalid_agent`. */
export async function createAgentRegistry(
  definitions: readonly AgentDefinition[],
  {
    tools = [],
    requestTransformers = {},
    strategies = [],
    always = [],
    maxToolResultBytes = defaultMaxResultBytes,
    redactKeys,
    onRename = () => {},
  }: RegistryOptions = {},
): Promise<AgentRegistry> {
  if (!Array.isArray(definitions))
    throw new LanefoldError('invalid_agent', 'agents is not a list.', {
      hint: 'List what defineAgent() returned: agents: [support].',
    });
  const agents: AgentsByName = new Map();
  for (const [name, transformer] of Object.entries(requestTransformers)) assertTransformer(name, transformer);
  for (const definition of definitions) {
    const defined = defineAgent(definition);
    const limits = {
      maxToolResultBytes: defined.maxToolResultBytes ?? maxToolResultBytes,
      maxInlineBytes: defined.maxToolResultBytes ?? defaultMaxResultBytes,
    };
    const renamed = (tool: RenamedTool) => onRename({ agent: defined.name, ...tool });
    const shared = { requestTransformers, always, redactKeys, onRename: renamed };
    const agent = await ready({ ...defined, ...limits }, shared);
    const versions = agents.get(agent.name) ?? [];
    assertDistinct(versions, agent);
    agents.set(agent.name, [...versions, agent]);
  }
  assertReferences(agents);
  const extra = await normaliseTools(tools, { taken: always.map(({ name }) => name), onRename });
  const extraTools = toolsByName(extra);
  const all = [...agents.values()].flat();
  const own = definitions.flatMap(({ strategy }) => (typeof strategy === 'object' ? strategy : []));
  return view(agents, {
    strategies: createStrategyRegistry([...strategies, ...own]),
    names: [...agents.keys()],
    extraTools,
    toolNames: [...new Set([...extraTools.keys(), ...all.flatMap((agent) => [...agent.tools.keys()])])].sort(),
    requestTransformers,
  });
}

async function ready(
  {
    requestTransformer: given,
    output: contract,
    contextPolicy: policy,
    strategy: chosen,
    version: label,
    ...agent
  }: Agent & Pick<ReadyAgent, 'maxToolResultBytes' | 'maxInlineBytes'>,
  {
    requestTransformers: shared,
    always,
    redactKeys,
    onRename,
  }: Required<Pick<RegistryOptions, 'always'>> & {
    requestTransformers: Record<string, RequestTransformer>;
    redactKeys: readonly string[] | undefined;
    onRename: (renamed: RenamedTool) => void;
  },
): Promise<ReadyAgent> {
  const taken = always.map(({ name }) => name);
  const tools = Object.freeze([...(await normaliseTools(agent.tools, { taken, onRename })), ...always]);
  const strategy = typeof chosen === 'string' ? chosen : chosen.name;
  const transformer = typeof given === 'string' ? findTransformer(given, agent.requestTransformers, shared) : given;
  const output = contract && (await readContract(contract));
  const contextPolicy = policy === undefined ? undefined : readPolicy(policy);
  const hidden = createDefinitionRedactor(redactKeys);
  const chain = readChain(agent.model, `Agent ${JSON.stringify(agent.name)}`, 'invalid_agent');
  const resolved = {
    ...agent,
    strategy,
    maxIterations: agent.maxIterations,
    model: chain.models[0],
    chain,
    ...(output ? { output } : {}),
    ...(contextPolicy ? { contextPolicy } : {}),
    ...(transformer ? { requestTransformer: transformer } : {}),
    tools: toolsByName(tools),
    descriptors: describeTools(tools),
    settings: fromCallSettings(agent.settings),
  };
  return {
    ...resolved,
    version: versionOf(resolved, label, redactKeys),
    fingerprint: createHash('sha256')
      .update(
        canonicalize({
          version: 1,
          model: agent.model,
          strategy,
          instructions: agent.instructions,
          maxIterations: iterationLimit(agent),
          // in a token that its holder can read: from a hash of what is secret, a short secret could be guessed
          ...(agent.strategyOptions ? { strategyOptions: hidden.options(agent.strategyOptions) } : {}),
          streaming: agent.streaming,
          tools: tools.map((tool) => tool.name).sort(),
          toolLimits: [agent.toolTimeoutMs, agent.toolMaxRetries, agent.toolRetryBackoffMs, agent.toolConcurrency],
          maxToolCalls: agent.maxToolCalls,
          ...(agent.onCut === 'end' ? {} : { onCut: agent.onCut }),
          // The name is the only identity of a function that survives a deployment.
          ...(output ? { output: [output.schema, output.maxRepairs, output.mode, output.repair?.name ?? null] } : {}),
          ...(contextPolicy ? { contextPolicy } : {}),
          ...(given ? { transformer: typeof given === 'string' ? given : given.name } : {}),
        }) as string,
      )
      .digest('base64url'),
  };
}

/** @throws LanefoldError `invalid_agent` for a second agent of a name and label */
function assertDistinct(versions: readonly ReadyAgent[], { name, version: { label } }: ReadyAgent): void {
  if (!versions.some(({ version }) => version.label === label)) return;
  const of = label === undefined ? '' : ` and labelled ${JSON.stringify(label)}`;
  throw new LanefoldError('invalid_agent', `Two agents are named ${JSON.stringify(name)}${of}.`, {
    hint: "Rename one of them, or give each version of the agent a label of its own: defineAgent({ name, version: 'b', … }).",
  });
}

/** @throws LanefoldError `invalid_agent` for an agent that hands runs to another one, or calls it, which does not exist */
function assertReferences(agents: ReadonlyMap<string, readonly ReadyAgent[]>): void {
  for (const { name, onEnd, tools } of [...agents.values()].flat()) {
    if (typeof onEnd === 'object') assertExists(agents, name, 'hands its runs on to', onEnd.request.agent);
    for (const { toAgent } of tools.values())
      if (toAgent !== undefined) assertExists(agents, name, 'has a tool for', toAgent);
  }
}

function assertExists(agents: ReadonlyMap<string, unknown>, name: string, what: string, other: string): void {
  if (agents.has(other)) return;
  throw new LanefoldError('invalid_agent', `Agent ${name} ${what} the agent ${other}, which does not exist.`, {
    hint: `Pass both to createLanefold: agents: [${name}, …].`,
  });
}

/** The versions of each agent, the one that serves where nothing else is said first. */
type AgentsByName = Map<string, readonly ReadyAgent[]>;

type Shared = Pick<AgentRegistry, 'strategies' | 'names' | 'extraTools' | 'toolNames'> & {
  requestTransformers: Record<string, RequestTransformer>;
};

/** A registry of agents. `chosen` is an agent that only has this version here: a label or an id. */
function view(agents: AgentsByName, shared: Shared, chosen?: { name: string; version: string }): AgentRegistry {
  const { names, extraTools, requestTransformers } = shared;
  const versions = (name: string): readonly ReadyAgent[] => {
    const all = agents.get(name) ?? [];
    return chosen?.name === name ? all.filter(isVersion(chosen.version)) : all;
  };
  const get = (name: string): ReadyAgent => {
    const [agent] = versions(name);
    if (agent) return agent;
    throw agents.has(name) ? unknownVersion(name, chosen!.version, agents.get(name)!) : unknownAgent(name, names);
  };
  return {
    ...shared,
    versions,
    get,
    has: (name) => versions(name).length > 0,
    under: (name, version) => view(agents, shared, version === undefined ? undefined : { name, version }),
    tool(agent, name) {
      const own = get(agent).tools;
      const tool = own.get(name) ?? extraTools.get(name);
      if (tool) return tool;
      throw unknownTools([name], [...own.keys(), ...extraTools.keys()]);
    },
    transformer: (agent, name) => findTransformer(name, get(agent).requestTransformers, requestTransformers),
  };
}

const isVersion =
  (version: string) =>
  ({ version: { id, label } }: ReadyAgent): boolean =>
    version === label || version === id;

const unknownAgent = (name: string, names: string[]): LanefoldError =>
  new LanefoldError('unknown_agent', `Agent ${JSON.stringify(name)} does not exist.`, {
    hint:
      names.length > 0 ? `Known agents: ${names.join(', ')}.` : 'Pass agents: [defineAgent({…})] to createLanefold.',
    details: { agent: name, known: names },
  });

const unknownVersion = (name: string, version: string, agents: readonly ReadyAgent[]): LanefoldError => {
  const known = agents.map(({ version: { id, label } }) => label ?? id);
  return new LanefoldError(
    'unknown_version',
    `Agent ${JSON.stringify(name)} has no version ${JSON.stringify(version)} here.`,
    {
      hint: `Known versions: ${known.join(', ')}.`,
      details: { agent: name, version, known },
    },
  );
};

/** An agent ready for runs: its tools are resolved, its settings in their stored form. */
export interface ReadyAgent extends Omit<Agent, Resolved | 'maxToolResultBytes'> {
  /** The first model of `chain`. */
  readonly model: ModelName;
  /** The models that may answer. */
  readonly chain: ModelChain;
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
  /** @throws LanefoldError `unknown_agent`, `unknown_version` */
  get(name: string): ReadyAgent;
  has(name: string): boolean;
  /** The versions of an agent, the one that serves where nothing else is said first; empty if there is no such agent. */
  versions(name: string): readonly ReadyAgent[];
  /** This registry, where the agent `name` is its given version: a label or an id. Undefined: the first. */
  under(name: string, version: string | undefined): AgentRegistry;
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

const defaultLimit = 10;

/** Maximum model calls of a run: set by the agent or the request, else the default of the strategy. */
export const iterationLimit = (agent: { maxIterations?: number | undefined }, machine?: StrategyMachine): number =>
  agent.maxIterations ?? machine?.maxIterations ?? defaultLimit;

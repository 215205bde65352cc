import { toSnakeCase } from '../../base/common/case.ts';
import { readPolicyJson } from '../policy/read-policy.ts';
import { mergeSettings } from '../models/settings.ts';
import type { ReadyContract } from '../contracts/contract.ts';
import { readStoredContract } from '../contracts/read-contract.ts';
import type { RunOptions, LoggedConfig } from './run-options.ts';
import { describeTools } from '../tools/toolset.ts';
import type { Tool } from '../tools/tool.ts';
import { optionsWith } from './options.ts';
import type { AgentRegistry, ReadyAgent } from './registry.ts';

/** The agent that a run uses: its definition, overridden by the configuration of the thread, then by the request. */
export function effectiveAgent(
  registry: AgentRegistry,
  agent: ReadyAgent,
  config: LoggedConfig | null,
  options: RunOptions | null,
): ReadyAgent {
  const configured = config ? configuredAgent(registry, agent, config) : agent;
  return options ? overridden(registry, configured, options) : configured;
}

function configuredAgent(registry: AgentRegistry, agent: ReadyAgent, config: LoggedConfig): ReadyAgent {
  const own = {
    ...agent,
    toolContext: { ...agent.toolContext, ...config.tool_context },
    ...(config.policy == null ? {} : { contextPolicy: readPolicyJson(config.policy) }),
  };
  if (!config.tools) return own;
  const { added, removed } = config.tools;
  const tools = new Map([...agent.tools].filter(([name]) => !removed.includes(name)));
  for (const name of added) {
    const tool = registry.extraTools.get(name) ?? agent.tools.get(name);
    if (tool) tools.set(name, tool);
  }
  return withTools(own, tools);
}

function overridden(registry: AgentRegistry, agent: ReadyAgent, options: RunOptions): ReadyAgent {
  const { tools: named, allowed_tools: allowed, request_transformer: transformer } = options;
  const changed: Partial<ReadyAgent> = {
    ...agentOptions(options),
    ...(options.settings ? { settings: mergeSettings(agent.settings, options.settings) } : {}),
    ...(transformer === undefined ? {} : { requestTransformer: registry.transformer(agent.name, transformer) }),
    ...(options.context_policy === undefined ? {} : { contextPolicy: readPolicyJson(options.context_policy) }),
    ...(options.output === undefined ? {} : { output: contractOf(options.output) }),
  };
  const own = Object.keys(changed).length > 0 ? { ...agent, ...changed } : agent;
  if (!named && !allowed) return own;
  const all = [...own.tools.values()];
  const always = all.filter((tool) => tool.always);
  const chosen = named ? [...named.map((name) => registry.tool(agent.name, name)), ...always] : all;
  const names = allowed && [...allowed, ...always.map((tool) => tool.name)];
  return toolsOnly(withTools(own, new Map(chosen.map((tool) => [tool.name, tool]))), names);
}

/** The options that agents have too. */
const agentOptions = (options: RunOptions): Partial<ReadyAgent> =>
  Object.fromEntries(
    optionsWith({ agent: true }).flatMap((name) => {
      const value = options[toSnakeCase(name) as keyof RunOptions];
      return value === undefined ? [] : [[name, value]];
    }),
  );

const contractOf = (output: NonNullable<RunOptions['output']>): ReadyContract | undefined =>
  output === 'raw' ? undefined : readStoredContract(output);

/** The agent with only the named tools, or unchanged when `names` is undefined. */
export function toolsOnly(agent: ReadyAgent, names: readonly string[] | undefined): ReadyAgent {
  if (!names) return agent;
  return withTools(agent, new Map([...agent.tools].filter(([name]) => names.includes(name))));
}

const withTools = (agent: ReadyAgent, tools: ReadonlyMap<string, Tool>): ReadyAgent => ({
  ...agent,
  tools,
  descriptors: describeTools([...tools.values()]),
});

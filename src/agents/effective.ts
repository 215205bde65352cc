import type { JsonObject } from '../context/message.ts';
import { describeTools } from '../tools/descriptors.ts';
import type { Tool } from '../tools/tool.ts';
import type { ReadyAgent } from './registry.ts';

/** What the log of a thread says of tools, as the claim returns it. */
export interface LoggedConfig {
  tools?: { added: string[]; removed: string[] };
  tool_context?: JsonObject;
}

/** The agent of a run: as defined, with the tools and the tool context its thread has configured. */
export function configuredAgent(
  agent: ReadyAgent,
  config: LoggedConfig | null,
  extraTools: ReadonlyMap<string, Tool>,
): ReadyAgent {
  if (!config) return agent;
  const toolContext = { ...agent.toolContext, ...config.tool_context };
  if (!config.tools) return { ...agent, toolContext };
  const { added, removed } = config.tools;
  const tools = new Map([...agent.tools].filter(([name]) => !removed.includes(name)));
  for (const name of added) {
    const tool = extraTools.get(name) ?? agent.tools.get(name);
    if (tool) tools.set(name, tool);
  }
  return { ...agent, toolContext, tools, descriptors: describeTools([...tools.values()]) };
}

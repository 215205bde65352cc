import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentDefinition } from '../agents/definition.ts';
import { detectModules } from './esm-hook.ts';
import { oneLine } from '../log/printable.ts';
import { UsageError } from './errors.ts';

const hint = 'Write a module such as: export default [defineAgent({ name: "support", model: "openai:gpt-5" })]';

/**
 * Loads the agents of a module, JavaScript or TypeScript without a build step; without a file, the built-in assistant.
 *
 * @throws UsageError if the file is missing, cannot be loaded, or does not default-export an array of agents
 * @throws LanefoldError `invalid_agent`
 */
export async function loadAgents(file: string | undefined): Promise<AgentDefinition[]> {
  if (!file) return [(await import('./assistant/index.ts')).assistant];
  const full = path.resolve(file);
  const source = process.env['LANEFOLD_AGENTS'] === file ? ' (LANEFOLD_AGENTS)' : '';
  if (!existsSync(full)) throw new UsageError(`The agents file ${full} does not exist${source}.`, hint);
  const module = await load(full, source);
  // The default export of a CommonJS module is wrapped once more.
  const inner = module.default as { default?: unknown } | undefined;
  const agents = inner?.default ?? inner;
  if (agents === undefined) throw new UsageError(`The agents file ${full} has no default export.`, hint);
  if (!Array.isArray(agents))
    throw new UsageError(`The default export of the agents file ${full} is ${nameOf(agents)}, not an array.`, hint);
  if (agents.length === 0) throw new UsageError(`The agents file ${full} exports an empty array.`, hint);
  const { defineAgent } = await import('../agents/agent.ts');
  for (const [i, agent] of agents.entries()) {
    if (typeof agent !== 'object' || agent === null)
      throw new UsageError(`Item ${i} of the agents file ${full} is ${nameOf(agent)}, not an agent.`, hint);
    defineAgent(agent as AgentDefinition);
  }
  return agents as AgentDefinition[];
}

async function load(full: string, source: string): Promise<{ default?: unknown }> {
  // From the sources, tsx already handles every import; a build needs it only for an agents file in TypeScript.
  const underTsx = import.meta.url.endsWith('.ts');
  const needsTsx = !underTsx && /\.[cm]?tsx?$/.test(full);
  if (needsTsx) (await import('tsx/esm/api')).register();
  if (underTsx || needsTsx) detectModules();
  try {
    return (await import(pathToFileURL(full).href)) as { default?: unknown };
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${oneLine(error.message)}` : String(error);
    throw new UsageError(`Cannot load the agents file ${full}${source}: ${reason}`, 'Fix the file and try again.');
  }
}

const nameOf = (value: unknown): string =>
  value === null ? 'null' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;

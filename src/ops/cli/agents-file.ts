import { register } from 'node:module';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentDefinition } from '../../agent/definition/definition.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { closest } from '../../base/checks/unknown-keys.ts';
import { checkDefinition, definitionOptions, type LanefoldDefinition } from '../../lanefold/definition.ts';
import { oneLine } from '../../base/log/logger.ts';
import { UsageError } from './errors.ts';
import { note } from './output.ts';

// Source text rather than a function, because module hooks run in their own thread from their own module.
const hook = `
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  if (found.format !== 'commonjs' || !/\\.[jt]sx?(\\?|$)/.test(found.url) || found.url.includes('/node_modules/')) return found;
  const source = await readFile(fileURLToPath(found.url), 'utf8');
  return /^\\s*(import|export)\\b/m.test(source) ? { ...found, format: 'module' } : found;
}`;

/**
 * Treats files with `import` or `export` as ES modules even if no package.json says so. Node does this by itself for
 * JavaScript, but tsx would load such a file as CommonJS and fail.
 */
const detectModules = (): void => register(`data:text/javascript,${encodeURIComponent(hook)}`);

const hint =
  'Write a module such as: export default [defineAgent({ name: "support", model: "openai:gpt-5" })], or with more than ' +
  'agents: export default defineLanefold({ agents: […], models: {…} })';

/** What an agents file defines: its agents, and what else the commands pass to `createLanefold`. */
export type AgentsFile = LanefoldDefinition & { agents: readonly AgentDefinition[] };

/**
 * Loads a module, JavaScript or TypeScript without a build step, whose default export is an array of agents, or what
 * `defineLanefold` takes; without a file, the built-in assistant.
 *
 * @throws UsageError if the file is missing, cannot be loaded, or does not export agents
 * @throws LanefoldError `invalid_agent`, `invalid_input`
 */
export async function loadAgentsFile(file: string | undefined): Promise<AgentsFile> {
  if (!file) return { agents: [(await import('./assistant.ts')).assistant] };
  const full = path.resolve(file);
  const source = process.env['LANEFOLD_AGENTS'] === file ? ' (LANEFOLD_AGENTS)' : '';
  if (!existsSync(full)) throw new UsageError(`The agents file ${full} does not exist${source}.`, hint);
  const module = await load(full, source);
  const definition = await definitionOf(exportedBy(module, full), full);
  tellUnread(module, definition, full);
  return definition;
}

/** What the file defines, if one is given; without it, the workers know the agents, not the built-in assistant. */
export const definitionIn = (file: string | undefined): Promise<LanefoldDefinition> =>
  file ? loadAgentsFile(file) : Promise.resolve({});

function exportedBy(module: Module, full: string): unknown {
  // The default export of a CommonJS module is wrapped once more.
  const inner = module.default as { default?: unknown } | null | undefined;
  const exported = inner?.default ?? inner;
  if (exported === undefined) throw new UsageError(`The agents file ${full} has no default export.`, hint);
  return exported;
}

async function definitionOf(exported: unknown, full: string): Promise<AgentsFile> {
  const what = `The default export of the agents file ${full}`;
  if (typeof exported !== 'object' || exported === null)
    throw new UsageError(`${what} is ${nameOf(exported)}, not an array of agents.`, hint);
  if ('model' in exported) throw new UsageError(`${what} is an agent, not an array of agents.`, hint);
  if (!Array.isArray(exported)) checkDefinition(what, exported);
  const definition: LanefoldDefinition = Array.isArray(exported) ? { agents: exported } : exported;
  const { agents } = definition;
  if (agents === undefined) throw new UsageError(`${what} has no agents.`, hint);
  if (!Array.isArray(agents)) throw new UsageError(`The agents of the file ${full} are not an array.`, hint);
  if (agents.length === 0) throw new UsageError(`The agents file ${full} exports an empty array.`, hint);
  const { defineAgent } = await import('../../agent/definition/agent.ts');
  for (const [i, agent] of agents.entries()) {
    if (typeof agent !== 'object' || agent === null)
      throw new UsageError(`Item ${i} of the agents file ${full} is ${nameOf(agent)}, not an agent.`, hint);
    defineAgent(agent as AgentDefinition);
  }
  return { ...definition, agents };
}

/**
 * Tells of exports that look like options, because only the default export is read. A module may export what it likes
 * otherwise.
 */
function tellUnread(module: Module, definition: AgentsFile, full: string): void {
  const known = new Set<unknown>([...Object.values(definition), ...definition.agents]);
  for (const [name, value] of Object.entries(module)) {
    if (name === 'default' || name === '__esModule' || name === 'module.exports' || known.has(value)) continue;
    const meant = closest(name, definitionOptions);
    if (meant === undefined) continue;
    const typo = meant === name ? '' : ` Did you mean ${meant}?`;
    note(
      `${full} exports ${JSON.stringify(name)}, which is not read: only the default export is.${typo} ` +
        `Write: export default defineLanefold({ agents: […], ${meant} })`,
      { level: 'warn' },
    );
  }
}

type Module = Record<string, unknown>;

async function load(full: string, source: string): Promise<Module> {
  // From the sources, tsx already handles every import; a build needs it only for an agents file in TypeScript.
  const underTsx = import.meta.url.endsWith('.ts');
  const needsTsx = !underTsx && /\.[cm]?tsx?$/.test(full);
  if (needsTsx) {
    // what tsx loads takes it three times as long, and the file imports this anyway
    await import('../../index.ts');
    (await import('tsx/esm/api')).register();
  }
  if (underTsx || needsTsx) detectModules();
  try {
    return (await import(pathToFileURL(full).href)) as Module;
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${oneLine(error.message)}` : String(error);
    const what = `Cannot load the agents file ${full}${source}: ${reason}`;
    // our own errors, such as defineAgent's, say what to do
    throw new UsageError(what, (isLanefoldError(error) ? error.hint : undefined) ?? 'Fix the file and try again.');
  }
}

const nameOf = (value: unknown): string =>
  value === null ? 'null' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;

/** The names of its agents, each once, with the labels of its versions: `support (a, b)`. */
export function namesOf({ agents }: AgentsFile): string[] {
  const labels = new Map<string, string[]>();
  for (const { name, version } of agents)
    labels.set(name, [...(labels.get(name) ?? []), ...(version ? [version] : [])]);
  return [...labels].map(([name, versions]) => (versions.length > 0 ? `${name} (${versions.join(', ')})` : name));
}

/** The agent that a command asks: the named one, or the only one. @throws UsageError */
export function chooseAgent(
  { agents }: AgentsFile,
  name: string | undefined,
  file: string | undefined,
): AgentDefinition {
  const names = namesOf({ agents }).join(', ');
  if (name === undefined) {
    if (agents.length === 1) return agents[0]!;
    throw new UsageError('The agents file has several agents.', `Choose one with --agent: ${names}`);
  }
  const agent = agents.find((candidate) => candidate.name === name);
  if (agent) return agent;
  if (file === undefined)
    throw new UsageError(
      `Agent ${JSON.stringify(name)} does not exist: without an agents file, there is only ${names}.`,
      'Pass the file that defines the agent, with --agents FILE or LANEFOLD_AGENTS.',
    );
  throw new UsageError(`Agent ${JSON.stringify(name)} does not exist.`, `Known agents: ${names}`);
}

import { LanefoldError } from '../../base/errors.ts';
import { unknownTools } from '../tools/lookup.ts';
import { findTransformer } from './find-transformer.ts';
import type { AgentRegistry, ReadyAgent } from './ready-agent.ts';
import type { RequestTransformer } from './transformer.ts';

/** The versions of each agent, the one that serves where nothing else is said first. */
export type AgentsByName = Map<string, readonly ReadyAgent[]>;

type Shared = Pick<AgentRegistry, 'strategies' | 'names' | 'extraTools' | 'toolNames'> & {
  requestTransformers: Record<string, RequestTransformer>;
};

/** A registry of agents. `chosen` is an agent that only has this version here: a label or an id. */
export function view(agents: AgentsByName, shared: Shared, chosen?: { name: string; version: string }): AgentRegistry {
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

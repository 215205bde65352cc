import type { AgentRegistry, ReadyAgent } from '../../agent/definition/registry.ts';
import type { AgentVersion } from '../../agent/definition/version.ts';
import type { Capabilities } from '../../database/store/worker/capabilities.ts';
import { executable } from '../run/strategy-of.ts';

/** The versions of all agents of a process. */
export const allVersions = (agents: AgentRegistry): AgentVersion[] =>
  agents.names.flatMap((name) => agents.versions(name)).map(({ version }) => version);

/** What a worker with these agents can execute. */
export const capabilitiesOf = (agents: AgentRegistry): Capabilities => ({
  agents: agents.names,
  strategies: executable(agents),
  versions: allVersions(agents).flatMap(namesOf),
  tools: [...agents.names.flatMap((name) => toolsOf(agents.versions(name))), ...namedOf('', agents.extraTools)],
});

const namesOf = ({ agent, id, label }: AgentVersion): string[] =>
  label === undefined ? [`${agent}@${id}`] : [`${agent}@${label}`, `${agent}@${id}`];

/** The first version also serves runs that want none. */
const toolsOf = (versions: readonly ReadyAgent[]): string[] =>
  versions.flatMap(({ name, version, tools }, place) =>
    [...(place === 0 ? [name] : []), ...namesOf(version)].flatMap((owner) => namedOf(owner, tools)),
  );

const namedOf = (owner: string, tools: ReadonlyMap<string, unknown>): string[] =>
  [...tools.keys()].map((tool) => `${owner}+${tool}`);

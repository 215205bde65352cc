import type { AgentRegistry } from '../../agents/registry.ts';
import type { AgentVersion } from '../../agents/version.ts';
import type { Capabilities } from '../../store/run/find-agent-queues.ts';
import { executable } from '../run/strategy-of.ts';

/** The versions of all agents of a process. */
export const allVersions = (agents: AgentRegistry): AgentVersion[] =>
  agents.names.flatMap((name) => agents.versions(name)).map(({ version }) => version);

/** What a worker with these agents can execute. */
export const capabilitiesOf = (agents: AgentRegistry): Capabilities => ({
  agents: agents.names,
  strategies: executable(agents),
  versions: allVersions(agents).flatMap(({ agent, id, label }) =>
    label === undefined ? `${agent}@${id}` : [`${agent}@${label}`, `${agent}@${id}`],
  ),
});

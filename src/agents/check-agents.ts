import { LanefoldError } from '../errors.ts';
import type { ReadyAgent } from './ready-agent.ts';

/** @throws LanefoldError `invalid_agent` for a second agent of a name and label */
export function assertDistinct(versions: readonly ReadyAgent[], { name, version: { label } }: ReadyAgent): void {
  if (!versions.some(({ version }) => version.label === label)) return;
  const of = label === undefined ? '' : ` and labelled ${JSON.stringify(label)}`;
  throw new LanefoldError('invalid_agent', `Two agents are named ${JSON.stringify(name)}${of}.`, {
    hint: "Rename one of them, or give each version of the agent a label of its own: defineAgent({ name, version: 'b', … }).",
  });
}

/** @throws LanefoldError `invalid_agent` for an agent that hands runs to another one, or calls it, which does not exist */
export function assertReferences(agents: ReadonlyMap<string, readonly ReadyAgent[]>): void {
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

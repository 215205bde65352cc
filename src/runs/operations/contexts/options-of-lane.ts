import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { LaneAgent } from '../../../database/store/context/read-context.ts';

/** Options that a compaction takes over from a run of its lane. */
export interface OptionsOfLane {
  limit_keys?: Record<string, string>;
  version?: string;
  pinned?: true;
}

/**
 * What a compaction by `agent` takes over from a run of its lane. It counts for the limits of the same customer. Under
 * another version of the agent, it would write that version's prompt to the lane, and miss the provider's cache.
 */
export function optionsOfLane(
  agents: AgentRegistry,
  agent: string,
  of: Pick<LaneAgent, 'agent' | 'options'> | undefined,
): OptionsOfLane {
  const { limit_keys, version, pinned } = of?.options ?? {};
  const counted = limit_keys === undefined ? {} : { limit_keys };
  if (of?.agent !== agent) return counted;
  // for a version that no worker has any more, the compaction would wait for ever, and later runs of the thread behind it
  const served = version !== undefined && (agents.names.length === 0 || agents.under(agent, version).has(agent));
  return {
    ...counted,
    ...(served ? { version } : {}),
    // the id to which that run is pinned binds no later run
    ...(pinned === undefined ? {} : { pinned: true }),
  };
}

/** What a worker, or a fleet, can execute. */
export interface Capabilities {
  /** Names of agents. */
  agents: readonly string[];
  /** Names of strategies. */
  strategies: readonly string[];
  /** The versions of agents that it has, each as `agent@label` and as `agent@id`. */
  versions: readonly string[];
  /**
   * Its tools: `agent+tool` for one that the agent has where no version is wanted, `agent@label+tool` and `agent@id+tool` for one of
   * a version, `+tool` for one of no agent.
   */
  tools: readonly string[];
}

/** What a run needs of a worker. */
export interface Needs {
  agent: string;
  /** A label or an id; null or undefined: any. */
  version?: string | null | undefined;
  strategy?: string | null | undefined;
  /** Its tools: `tool` for one of the agent, `+tool` for one of the agent or of no agent; null or undefined: any. */
  tools?: readonly string[] | null | undefined;
}

/** Whether runs that need this agent, version and strategy can be executed. */
export const knows = (
  { agents, strategies, versions }: Capabilities,
  { agent, version, strategy }: Omit<Needs, 'tools'>,
): boolean =>
  agents.includes(agent) &&
  (version == null || versions.includes(`${agent}@${version}`)) &&
  (strategy == null || strategies.includes(strategy));

import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { ReadyContract } from '../contracts/contract.ts';
import type { ModelSettings } from '../models/settings.ts';
import type { StoredPolicy } from '../policy/policy.ts';
import type { StrategyRegistry } from '../strategies/registry.ts';
import type { Tool } from '../tools/tool.ts';
import type { Agent } from './agent.ts';
import type { RequestTransformer } from './transformer.ts';
import type { AgentVersion } from './version.ts';
import type { StrategyMachine } from '../strategies/machine.ts';

/** An agent ready for runs: its tools are resolved, its settings in their stored form. */
export interface ReadyAgent extends Omit<
  Agent,
  | 'tools'
  | 'settings'
  | 'requestTransformer'
  | 'output'
  | 'contextPolicy'
  | 'strategy'
  | 'maxIterations'
  | 'maxToolResultBytes'
  | 'version'
> {
  /** Name of its strategy. */
  readonly strategy: string;
  /** Undefined: the default of the strategy. */
  readonly maxIterations: number | undefined;
  readonly maxToolResultBytes: number;
  /** The same limit for what stays in the log whatever its size: effects, and results that a tool marks. */
  readonly maxInlineBytes: number;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly requestTransformer?: RequestTransformer;
  readonly output?: ReadyContract | undefined;
  readonly contextPolicy?: StoredPolicy | undefined;
  readonly descriptors: LanguageModelV4FunctionTool[];
  readonly settings: ModelSettings;
  /** SHA-256 of everything that affects how a run continues; checkpoint tokens are bound to it. */
  readonly fingerprint: string;
  readonly version: AgentVersion;
}

export interface AgentRegistry {
  /** The built-in strategies, those of the agents, and those passed separately. */
  readonly strategies: StrategyRegistry;
  readonly names: string[];
  /** @throws LanefoldError `unknown_agent`, `unknown_version` */
  get(name: string): ReadyAgent;
  has(name: string): boolean;
  /** The versions of an agent, the one that serves where nothing else is said first; empty if there is no such agent. */
  versions(name: string): readonly ReadyAgent[];
  /** This registry, where the agent `name` is its given version: a label or an id. Undefined: the first. */
  under(name: string, version: string | undefined): AgentRegistry;
  /** Tools that belong to no agent; threads may register them. */
  readonly extraTools: ReadonlyMap<string, Tool>;
  /** Every tool a thread may register or unregister. */
  readonly toolNames: string[];
  /**
   * A tool that a request may name: a tool of the agent, or one that belongs to no agent.
   *
   * @throws LanefoldError `unknown_tool`
   */
  tool(agent: string, name: string): Tool;
  /** A transformer of the agent, or a shared one. @throws LanefoldError `invalid_request_transformer` */
  transformer(agent: string, name: string): RequestTransformer;
}

const defaultLimit = 10;

/** Maximum model calls of a run: set by the agent or the request, else the default of the strategy. */
export const iterationLimit = (agent: { maxIterations?: number | undefined }, machine?: StrategyMachine): number =>
  agent.maxIterations ?? machine?.maxIterations ?? defaultLimit;

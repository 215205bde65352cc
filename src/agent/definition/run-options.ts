import type { Json, JsonObject } from '../context/message.ts';
import type { StoredContract } from '../contracts/contract.ts';
import type { CompactionRequest } from '../strategies/compaction/types.ts';
import type { StrategySelection } from '../strategies/selection.ts';
import type { ModelSettings } from '../models/settings/settings.ts';

/** The overrides of a request, as stored with its run: names and JSON, never code. */
export interface RunOptions {
  /** The model of the agent, if the request named another one. */
  agent_model?: string;
  /** The version of its agent that it wants: a label or an id. */
  version?: string;
  /** It goes on under the version it started under: true until it starts, then the id of that version. */
  pinned?: true | string;
  max_iterations?: number;
  max_total_tokens?: number;
  /** In US dollars. */
  max_cost?: number;
  max_duration_ms?: number;
  /** The request named its strategy, or options for it. */
  named_strategy?: true;
  /** Options of the strategy that executes the run, with defaults filled in. */
  strategy_options?: JsonObject;
  /** What the strategy `adaptive` chose. */
  selection?: StrategySelection;
  /** The run only compacts its lane. */
  compaction?: CompactionRequest;
  /** The run answers its lane as it is: it has no input. */
  continues?: true;
  /** The item of an eval that it belongs to: it gets stand-ins for its tools. */
  eval?: { id: string; no: number };
  /** False: the run cannot be steered. */
  takes_input?: false;
  /** Priority of the job, as in BullMQ. */
  priority?: number;
  /** Values that limits may apply to, by dimension. */
  limit_keys?: Record<string, string>;
  /** The handoffs of the run, in order. */
  handoffs?: HandoffRecord[];
  /** The request of a run that was handed over: what it asked of its first agent. */
  asked?: { agent: string; model: string; strategy: string; options: RunOptions };
  tool_context?: JsonObject;
  /** The ended run that it repeats, and the thread of that run, if it is another one. */
  retry_of?: string;
  retry_of_thread?: string;
  /** A repeated run asks other agents again. */
  fresh_children?: true;
  /** The call of another run that started it. */
  parent?: ParentCall;
  on_failure?: 'restore';
  /** Replaces the tools of the agent and the thread. */
  tools?: string[];
  /** Restricts the tools of the run to these. */
  allowed_tools?: string[];
  settings?: ModelSettings;
  streaming?: boolean;
  request_transformer?: string;
  /** As it was given: fields in snake_case, or a preset. */
  context_policy?: Json;
  idle_timeout_ms?: number;
  tool_timeout_ms?: number;
  output?: StoredContract | 'raw';
  /** The strategy's own system prompt, for an agent without one. */
  prompt?: string;
}

/** A handoff, and what the run had used by then: the limits of the next agent count from there. */
export interface HandoffRecord {
  from: string;
  to: string;
  iteration: number;
  tokens: number;
  elapsed_ms: number;
}

/** The version of its agent that a run wants, as the SQL function `_wanted_version` says. */
export const versionIn = (options: RunOptions | null | undefined): string | undefined =>
  typeof options?.pinned === 'string' ? options.pinned : options?.version;

/** The call that started a run, and its place in the tree. */
export interface ParentCall {
  thread_id: string;
  run_id: string;
  round: number;
  index: number;
  root_thread_id: string;
  root_run_id: string;
  /** 1 for the children of the root. */
  depth: number;
  /** The deepest place that a run of this tree may have below it. */
  max_depth: number;
}

/** The tools, tool context and policy that the log of a thread configures, in the form that a claim returns. */
export interface LoggedConfig {
  tools?: { added: string[]; removed: string[] };
  tool_context?: JsonObject;
  /** Fields in snake_case, or a preset; null: the agent's. */
  policy?: Json;
}

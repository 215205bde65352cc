import type { Json, JsonObject } from '../../context/message.ts';
import type { StoredContract } from '../../contracts/contract.ts';
import type { CompactionRequest } from '../../strategies/machine.ts';
import type { StrategySelection } from '../../strategies/selection.ts';
import type { ModelSettings } from '../../models/settings/settings.ts';

/** The overrides of a request, as stored with its run: names and JSON, never code. */
export interface RunOptions {
  /** The model of the agent, where the request named another one. */
  agent_model?: string;
  max_iterations?: number;
  max_total_tokens?: number;
  max_duration_ms?: number;
  /** Of the strategy that executes the run, with their defaults. */
  strategy_options?: JsonObject;
  /** What the strategy `adaptive` chose. */
  selection?: StrategySelection;
  /** The run only compacts its lane. */
  compaction?: CompactionRequest;
  /** False: the run cannot be steered. */
  takes_input?: false;
  /** Of the job, as in BullMQ. */
  priority?: number;
  tool_context?: JsonObject;
  on_failure?: 'restore';
  /** Replaces the tools of the agent and the thread. */
  tools?: string[];
  /** Restricts whichever tools the run has to these. */
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

/** Of the message that began a run, how much lists show. */
const shown = 200;

/**
 * SQL: the first characters of the message that began a run, whose row is `run`, of a thread, `threadId` in SQL; null where it began with none. The run has
 * the message itself until a worker appends it to the log. Of parts, such as an image and a text, it is the first text.
 */
export const questionOf = (run: string, threadId: string): string =>
  `coalesce(${firstText(`${run}.input -> 'content'`)}, (select ${firstText(`e.payload -> 'content'`)}
    from lanefold._entry e where e.thread_id = ${threadId} and e.seq = ${run}.user_seq))`;

const firstText = (content: string): string =>
  `left(coalesce(jsonb_path_query_first(${content}, '$[*] ? (@.type == "text").text'), ${content}) #>> '{}', ${shown})`;

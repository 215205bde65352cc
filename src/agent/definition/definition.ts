import type { OnCut } from '../context/fold.ts';
import type { JsonObject } from '../context/message.ts';
import type { CallSettings } from '../models/settings.ts';
import type { ModelOption } from '../models/model-chain.ts';
import type { StrategyOptions, StrategyTypes, ResultUnder } from '../strategies/types.ts';
import type { Strategy } from '../strategies/registry.ts';
import type { OutputContract, OutputSchema, AgentResult, OptionResult } from '../contracts/contract.ts';
import type { PolicyOption } from '../policy/types.ts';
import type { EffectPolicy } from '../tools/effects.ts';
import type { GuardTool } from '../tools/judge-call.ts';
import type { Handoff } from '../tools/handoff.ts';
import type { ToolListing } from '../tools/toolset.ts';
import type { OptionsWith } from './options.ts';
import type { OverridableOption } from './overridable.ts';
import type { RequestTransformer } from './transformer.ts';

/**
 * An agent is code, not data: runs refer to it by name, and the log stores only what reached the model. `CHOSEN` is its
 * strategy, or the name of its strategy if that is known at compile time.
 */
export interface AgentDefinition<
  NAME extends string = string,
  SCHEMA extends OutputSchema = OutputSchema,
  CHOSEN extends keyof StrategyTypes | Strategy = keyof StrategyTypes | Strategy,
> extends OptionsWith<{ agent: true }> {
  /** 1 to 64 characters of `[A-Za-z0-9_.-]`. */
  name: NAME;
  /**
   * A label for this version, such as `b` or `2026-11`: a process may have several agents of one name under different labels, and a
   * rollout or a request chooses between them. 1 to 64 characters of `[A-Za-z0-9_.-]`. Default: none.
   */
  version?: string;
  /**
   * The version under which a run continues that waited or lost its worker: `latest` (default), that of the worker which takes
   * it, or `pinned`, the one it started under; then it waits for a worker that has it.
   */
  resume?: 'latest' | 'pinned';
  /**
   * `provider:model` or an alias. Of several, `['openai:…', 'anthropic:…']` or `{ try: […], on, firstTokenMs, attemptMs, sticky }`, each
   * stands in for those before it.
   */
  model: ModelOption;
  /** What the agent is for, in a sentence or two, for those who choose one: MCP clients and their models. Default: none. */
  description?: string;
  /** The system prompt of lanes that do not set one. Default: none. */
  instructions?: string | null;
  /** A list of `defineTool` tools, or a record of AI SDK or MCP tools by name. */
  tools?: ToolListing;
  /** The name of a built-in strategy, default `react`, or a strategy of your own. docs/reference/strategies.md compares them. */
  strategy?: CHOSEN;
  /** Options of this strategy, for runs that use it. */
  strategyOptions?: StrategyOptions<CHOSEN>;
  /** Warn the model with a message in its context when it repeats the same calls; default true. */
  cycleWarning?: boolean;
  /**
   * What becomes of a run whose answer was cut, at the limit of output tokens or by a filter of the provider. `end`
   * (default): it completes with that text, and says so (`finishReason`, `truncated`). `continue`: the model continues where
   * the limit cut it, which counts as an iteration, and the result is the whole text; strategies that ask questions of
   * their own treat it as `end`. `fail`: the run fails with the error `answer_cut`. Calls of a cut answer never run.
   */
  onCut?: OnCut;
  /** Retries of one model call on rate limits, 5xx and lost connections; default 4. */
  maxModelRetries?: number;
  /** Settings of every model call, under the AI SDK's names. */
  settings?: CallSettings;
  /** How the context is cut before a model call: a policy or a preset. Default: to the window of the model. */
  contextPolicy?: PolicyOption;
  /** Retries of a tool call after a retryable error; default 1. */
  toolMaxRetries?: number;
  /** Pause before each retry; default 200. */
  toolRetryBackoffMs?: number;
  /** Tool calls of a round that run concurrently; default 4. */
  toolConcurrency?: number;
  /**
   * Maximum tool calls in one answer. If an answer has more, none is executed, and the model is told why. Default 128.
   */
  maxToolCalls?: number;
  /** Maximum size of a tool result in bytes; default 262,144, or 16 MiB if `largeContentBytes` is set. */
  maxToolResultBytes?: number;
  /** How deep the runs that its tool calls start may nest below its own; default 5. */
  maxDepth?: number;
  /** How many runs the tool calls of one run may start; default 32. */
  maxChildren?: number;
  /** How often runs of this agent may be handed over to others, in all; default 8. */
  maxHandoffs?: number;
  /**
   * Hands each run on once this agent has answered: `handOff(agent, { ask })`, or a function of the answer that returns one,
   * or undefined to end the run. The function may be called again after a crash. A run that was handed over too often ends.
   */
  onEnd?: Handoff | ((answer: string) => Handoff | undefined);
  /** Passed to every tool as `ctx.context`. Its values are not stored, and not part of the version of the agent. */
  toolContext?: JsonObject;
  /**
   * Requires the final answer to be one JSON object that matches a schema; it becomes the `result` of the run. Default:
   * text.
   */
  output?: OutputContract<SCHEMA>;
  /** Inspects and may change every model call: a function, or the name of a registered one. */
  requestTransformer?: RequestTransformer | string;
  /** Request transformers that requests to this agent may select by name. */
  requestTransformers?: Record<string, RequestTransformer>;
  /** How long a tool call waits for human approval before it is denied, in ms; default 7 days. */
  approvalTimeoutMs?: number;
  /** Which state effects of tools are applied; default: all. */
  effectPolicy?: EffectPolicy;
  /**
   * What requests may override: one list for all callers, or one each for callers over `http` and for the `library`.
   * Default: nothing over HTTP, and everything in the library, whose caller is your own code. `toolContext.locale`
   * allows one key of the tool context. Over HTTP, limits can only be lowered.
   */
  overridable?: OverridableOption;
  /** Inspects every tool call before it starts, and may block it or fail the run. */
  guardTool?: GuardTool | null;
}

/**
 * The result type of a run of the agent NAME among AGENTS. OUT is the `output` of its request and CHOSEN the strategy
 * it names; without overrides they are `undefined` and `never`.
 */
export type RunResult<AGENTS extends AgentDefinition, NAME extends string, OUT, CHOSEN> = [CHOSEN] extends [never]
  ? Contracted<AGENTS, NAME, OUT>
  : ResultUnder<CHOSEN, Contracted<AGENTS, NAME, OUT>>;

type Contracted<AGENTS extends AgentDefinition, NAME extends string, OUT> = [OUT] extends [undefined]
  ? AgentResult<Extract<AGENTS, { name: NAME }>>
  : OptionResult<OUT>;

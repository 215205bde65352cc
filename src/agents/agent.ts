import {
  checkCallSettings,
  checkEffectPolicy,
  checkLabel,
  checkNumbers,
  checkOnEnd,
  checkResume,
  invalidAgent,
} from './check-agent.ts';
import type { JsonObject } from '../context/message.ts';
import type { CallSettings } from '../models/settings/call-settings.ts';
import type { ModelName } from '../models/registry/model-name.ts';
import { parseOptions } from '../strategies/options.ts';
import type { ResultUnder, StrategyOptions, StrategyTypes } from '../strategies/types.ts';
import { createStrategyRegistry, type Strategy } from '../strategies/registry.ts';
import type { OutputContract, OutputSchema } from '../contracts/contract.ts';
import type { SchemaResult, WithResult } from '../contracts/result-type.ts';
import type { PolicyOption } from '../policy/policy.ts';
import { readPolicy } from '../policy/read-policy.ts';
import { defaultMaxToolCalls } from '../tools/call-limit.ts';
import type { EffectPolicy } from '../tools/effects.ts';
import type { GuardTool } from '../tools/guard.ts';
import type { Handoff } from '../tools/handoff.ts';
import type { ToolListing } from '../tools/normalise.ts';
import { isBlank, promptOf } from '../checks/text.ts';
import { refuseUnknownKeys, type KeysOf } from '../checks/unknown-keys.ts';
import {
  overridableFields,
  readOverridable,
  unknownOverridable,
  type OverridableBy,
  type OverridableOption,
} from './overridable.ts';
import type { RequestTransformer } from './transformer.ts';

/**
 * An agent is code, not data: runs refer to it by name, and the log stores only what reached the model. `CHOSEN` is its
 * strategy, or the name of its strategy if that is known at compile time.
 */
export interface AgentDefinition<
  NAME extends string = string,
  SCHEMA extends OutputSchema = OutputSchema,
  CHOSEN extends keyof StrategyTypes | Strategy = keyof StrategyTypes | Strategy,
> {
  /** 1 to 64 characters of `[A-Za-z0-9_.-]`. */
  name: NAME;
  /**
   * A label for this version, such as `b` or `2026-11`: a process may have several agents of one name under different labels, and a
   * rollout or a request chooses between them. 1 to 64 characters of `[A-Za-z0-9_.-]`. Default: none.
   */
  version?: string;
  /**
   * The version under which a run goes on that waited or lost its worker: `latest` (default), that of the worker which takes
   * it, or `pinned`, the one it started under; then it waits for a worker that has it.
   */
  resume?: 'latest' | 'pinned';
  /** `provider:model` or an alias. */
  model: ModelName;
  /** What the agent is for, in a sentence or two, for those who choose one: MCP clients and their models. Default: none. */
  description?: string;
  /** The system prompt of lanes that do not set one. Default: none. */
  instructions?: string | null;
  /** A list of `defineTool` tools, or a record of AI SDK or MCP tools by name. */
  tools?: ToolListing;
  /** The name of a built-in strategy, default `react`, or a strategy of your own. docs/strategies.md compares them. */
  strategy?: CHOSEN;
  /** Options of this strategy, for runs that use it. */
  strategyOptions?: StrategyOptions<CHOSEN>;
  /** Warn the model with a message in its context when it repeats the same calls; default true. */
  cycleWarning?: boolean;
  /**
   * Maximum model calls of a run; default 10, or 200 for strategies that ask many questions. The tools of the last call
   * still run.
   */
  maxIterations?: number;
  /**
   * Input and output tokens after which a run makes no more model calls and ends with the best result it has; default
   * none.
   */
  maxTotalTokens?: number;
  /**
   * What the model calls of a run may cost, in US dollars: a call is not made, and the run ends with the best result it has,
   * if the call could cost more than is left. Needs a model whose price is known; default none.
   */
  maxCost?: number;
  /** Time since its start, in ms, after which a run ends with the best result it has; default none. */
  maxDurationMs?: number;
  /** Retries of one model call on rate limits, 5xx and lost connections; default 4. */
  maxModelRetries?: number;
  /** Settings of every model call, under the AI SDK's names. */
  settings?: CallSettings;
  /** How the context is cut before a model call: a policy or a preset. Default: to the window of the model. */
  contextPolicy?: PolicyOption;
  /** Stream the answer; default true. */
  streaming?: boolean;
  /** How long a model may stay silent, in ms, before the run fails with `timeout`; default `toolTimeoutMs` + 60,000. */
  idleTimeoutMs?: number;
  /** Time limit of one tool attempt; default 15,000. */
  toolTimeoutMs?: number;
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
  /** Passed to every tool as `ctx.context`. */
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

const agentKeys: KeysOf<AgentDefinition> = {
  strategyOptions: true,
  maxTotalTokens: true,
  maxCost: true,
  maxDurationMs: true,
  overridable: true,
  name: true,
  version: true,
  resume: true,
  model: true,
  description: true,
  instructions: true,
  tools: true,
  strategy: true,
  cycleWarning: true,
  maxIterations: true,
  maxModelRetries: true,
  settings: true,
  streaming: true,
  idleTimeoutMs: true,
  toolTimeoutMs: true,
  toolMaxRetries: true,
  toolRetryBackoffMs: true,
  toolConcurrency: true,
  maxToolCalls: true,
  maxDepth: true,
  maxChildren: true,
  maxHandoffs: true,
  onEnd: true,
  maxToolResultBytes: true,
  toolContext: true,
  output: true,
  contextPolicy: true,
  requestTransformer: true,
  requestTransformers: true,
  approvalTimeoutMs: true,
  effectPolicy: true,
  guardTool: true,
};

type Optional =
  | 'description'
  | 'version'
  | 'requestTransformer'
  | 'output'
  | 'contextPolicy'
  | 'strategyOptions'
  | 'maxIterations'
  | 'maxTotalTokens'
  | 'maxCost'
  | 'maxDurationMs'
  | 'maxToolResultBytes'
  | 'onEnd';

/**
 * A checked agent. The compiler knows NAME and RESULT, the type of its results, if they were given to `defineAgent`.
 */
export type Agent<NAME extends string = string, RESULT = unknown> = Readonly<
  Required<Omit<AgentDefinition<NAME>, Optional | 'overridable'>>
> &
  Readonly<Pick<AgentDefinition, Optional>> &
  WithResult<RESULT> & { readonly overridable: OverridableBy };

/** How long a model may stay silent, in ms, unless the agent or the request sets it. */
export const defaultIdleMs = (toolTimeoutMs: number): number => toolTimeoutMs + 60_000;

/**
 * Checks an agent and fills in the defaults.
 *
 * @throws LanefoldError `invalid_agent` naming the field, `invalid_policy`
 *
 * @example
 * ```ts
 * import { defineAgent } from 'lanefold';
 *
 * const support = defineAgent({
 *   name: 'support',
 *   model: 'scripted:demo', // offline; or openai:gpt-5-mini, anthropic:…, google:…
 *   instructions: 'You help customers with their orders.',
 * });
 * console.log(support.maxIterations);
 * ```
 */
export function defineAgent<
  const NAME extends string,
  SCHEMA extends OutputSchema = never,
  const CHOSEN extends keyof StrategyTypes | Strategy = 'react',
>(definition: AgentDefinition<NAME, SCHEMA, CHOSEN>): Agent<NAME, ResultUnder<CHOSEN, SchemaResult<SCHEMA>>> {
  refuseUnknownKeys(`Agent ${JSON.stringify(definition.name)}`, definition, agentKeys, 'invalid_agent');
  const { name } = definition;
  if (typeof name !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name)) {
    throw invalidAgent(
      String(name),
      'name must be 1 to 64 characters of [A-Za-z0-9_.-], starting with a letter or digit',
    );
  }
  if (typeof definition.model !== 'string' || definition.model === '') throw invalidAgent(name, 'model is missing');
  const { description, version } = definition;
  if (version !== undefined) checkLabel(name, version);
  if (description !== undefined && (typeof description !== 'string' || isBlank(description)))
    throw invalidAgent(name, 'description must be a text that is not blank');
  const strategy = definition.strategy ?? 'react';
  const machine = machineOf(name, strategy);
  if (definition.output && !machine.output)
    throw invalidAgent(name, `strategy ${machine.name} does not support an output contract`);
  try {
    parseOptions(machine, definition.strategyOptions);
  } catch (error) {
    throw invalidAgent(name, (error as Error).message.replace(/\.$/, ''));
  }
  if (definition.contextPolicy !== undefined && readPolicy(definition.contextPolicy).system_prompt !== undefined)
    throw invalidAgent(
      name,
      'contextPolicy.systemPrompt is for threads and requests; an agent has instructions instead',
    );
  checkNumbers(name, definition);
  if (definition.guardTool && typeof definition.guardTool !== 'function')
    throw invalidAgent(name, 'guardTool must be a function');
  const stranger = unknownOverridable(definition.overridable ?? []);
  if (stranger !== undefined)
    throw invalidAgent(
      name,
      `overridable lists ${JSON.stringify(stranger)}, which is not one of ${overridableFields.join(', ')}`,
    );
  const toolTimeoutMs = definition.toolTimeoutMs ?? 15_000;
  return Object.freeze({
    name,
    ...(version === undefined ? {} : { version }),
    resume: checkResume(name, definition.resume ?? 'latest'),
    model: definition.model,
    ...(description === undefined ? {} : { description }),
    instructions: promptOf(definition.instructions ?? null),
    tools: definition.tools ?? [],
    strategy,
    cycleWarning: definition.cycleWarning ?? true,
    maxModelRetries: definition.maxModelRetries ?? 4,
    settings: checkCallSettings(name, definition.settings ?? {}),
    streaming: definition.streaming ?? true,
    idleTimeoutMs: definition.idleTimeoutMs || defaultIdleMs(toolTimeoutMs),
    toolTimeoutMs,
    toolMaxRetries: definition.toolMaxRetries ?? 1,
    toolRetryBackoffMs: definition.toolRetryBackoffMs ?? 200,
    toolConcurrency: definition.toolConcurrency ?? 4,
    maxToolCalls: definition.maxToolCalls ?? defaultMaxToolCalls,
    maxDepth: definition.maxDepth ?? 5,
    maxChildren: definition.maxChildren ?? 32,
    maxHandoffs: definition.maxHandoffs ?? 8,
    ...(definition.onEnd === undefined ? {} : { onEnd: checkOnEnd(name, strategy, definition.onEnd) }),
    toolContext: definition.toolContext ?? {},
    requestTransformers: definition.requestTransformers ?? {},
    ...(definition.strategyOptions ? { strategyOptions: definition.strategyOptions } : {}),
    ...(definition.maxIterations === undefined ? {} : { maxIterations: definition.maxIterations }),
    ...(definition.maxTotalTokens === undefined ? {} : { maxTotalTokens: definition.maxTotalTokens }),
    ...(definition.maxCost === undefined ? {} : { maxCost: definition.maxCost }),
    ...(definition.maxDurationMs === undefined ? {} : { maxDurationMs: definition.maxDurationMs }),
    ...(definition.maxToolResultBytes === undefined ? {} : { maxToolResultBytes: definition.maxToolResultBytes }),
    ...(definition.output ? { output: definition.output } : {}),
    ...(definition.contextPolicy === undefined ? {} : { contextPolicy: definition.contextPolicy }),
    ...(definition.requestTransformer ? { requestTransformer: definition.requestTransformer } : {}),
    approvalTimeoutMs: definition.approvalTimeoutMs ?? 604_800_000,
    guardTool: definition.guardTool ?? null,
    overridable: readOverridable(definition.overridable),
    effectPolicy: checkEffectPolicy(name, definition.effectPolicy ?? {}),
  });
}

const known = createStrategyRegistry();

function machineOf(agent: string, strategy: string | Strategy): Strategy {
  if (typeof strategy !== 'string') return strategy;
  if (known.has(strategy)) return known.find(strategy);
  throw invalidAgent(
    agent,
    `strategy ${JSON.stringify(strategy)} does not exist; choose one of ${known.names.join(', ')}, or pass your own`,
  );
}

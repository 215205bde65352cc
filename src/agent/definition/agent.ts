import {
  checkCallSettings,
  checkEffectPolicy,
  checkLabel,
  checkNumbers,
  checkOnCut,
  checkOnEnd,
  checkResume,
  invalidAgent,
} from './check-agent.ts';
import { parseOptions } from '../strategies/options.ts';
import type { ResultUnder, StrategyTypes } from '../strategies/types.ts';
import { createStrategyRegistry, type Strategy } from '../strategies/registry.ts';
import type { OutputSchema } from '../contracts/contract.ts';
import type { SchemaResult, WithResult } from '../contracts/result-type.ts';
import { readPolicy } from '../policy/read-policy.ts';
import { defaultMaxToolCalls } from '../tools/call-limit.ts';
import { isBlank, promptOf } from '../../base/checks/text.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { overridableFields, readOverridable, unknownOverridable, type OverridableBy } from './overridable.ts';
import type { AgentDefinition } from './definition.ts';

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
  onCut: true,
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
    onCut: checkOnCut(name, definition.onCut ?? 'end'),
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

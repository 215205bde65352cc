import { parseOptions, createStrategyRegistry, type Strategy } from '../strategies/registry.ts';
import type { ResultUnder, StrategyTypes } from '../strategies/types.ts';
import type { OutputSchema, SchemaResult, WithResult } from '../contracts/contract.ts';
import { readPolicy } from '../policy/read-policy.ts';
import { defaultMaxToolCalls } from '../tools/judge-call.ts';
import { isBlank, promptOf, centuryMs } from '../../base/checks/values.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { overridableFields, readOverridable, unknownOverridable, type OverridableBy } from './overridable.ts';
import type { AgentDefinition } from './definition.ts';
import { runOptions, type RunOption } from './option-table.ts';
import { asKeys, optionsWith } from './options.ts';
import { z } from 'zod';
import type { OnCut } from '../context/fold.ts';
import { effectOps } from '../context/state.ts';
import { LanefoldError } from '../../base/errors.ts';
import { readChain } from '../models/model-chain.ts';
import { checkSettings, type CallSettings } from '../models/settings.ts';
import type { EffectPolicy } from '../tools/effects.ts';
import { Handoff } from '../tools/handoff.ts';

const defaults = {
  resume: 'latest',
  instructions: null,
  tools: [],
  strategy: 'react',
  cycleWarning: true,
  onCut: 'end',
  maxModelRetries: 4,
  settings: {},
  streaming: true,
  toolTimeoutMs: 15_000,
  toolMaxRetries: 1,
  toolRetryBackoffMs: 200,
  toolConcurrency: 4,
  maxToolCalls: defaultMaxToolCalls,
  maxDepth: 5,
  maxChildren: 32,
  maxHandoffs: 8,
  toolContext: {},
  requestTransformers: {},
  approvalTimeoutMs: 604_800_000,
  guardTool: null,
  effectPolicy: {},
} satisfies Partial<AgentDefinition>;

const agentKeys: KeysOf<AgentDefinition> = {
  ...asKeys(Object.keys(defaults) as (keyof typeof defaults)[]),
  ...asKeys(optionsWith({ agent: true })),
  name: true,
  version: true,
  model: true,
  description: true,
  strategyOptions: true,
  overridable: true,
  onEnd: true,
  maxToolResultBytes: true,
  output: true,
  contextPolicy: true,
  requestTransformer: true,
};

type Optional = Exclude<
  keyof AgentDefinition,
  keyof typeof defaults | 'name' | 'model' | 'idleTimeoutMs' | 'overridable'
>;

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
  readChain(definition.model, `Agent ${JSON.stringify(name)}`, 'invalid_agent');
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
  const agent = { ...defaults, ...omitUndefined(definition) };
  if (definition.onEnd !== undefined) checkOnEnd(name, strategy, definition.onEnd);
  return Object.freeze({
    ...agent,
    resume: checkResume(name, agent.resume),
    instructions: promptOf(agent.instructions),
    onCut: checkOnCut(name, agent.onCut),
    settings: checkCallSettings(name, agent.settings),
    effectPolicy: checkEffectPolicy(name, agent.effectPolicy),
    idleTimeoutMs: agent.idleTimeoutMs || defaultIdleMs(agent.toolTimeoutMs),
    overridable: readOverridable(agent.overridable),
  }) as Agent<NAME, ResultUnder<CHOSEN, SchemaResult<SCHEMA>>>;
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

const minimums = {
  toolConcurrency: 1,
  maxToolCalls: 1,
  maxToolResultBytes: 1,
  approvalTimeoutMs: 1,
  maxDepth: 0,
  maxChildren: 0,
  maxHandoffs: 0,
  maxModelRetries: 0,
  toolMaxRetries: 0,
  toolRetryBackoffMs: 0,
};

/** Checks the numbers of a definition. @throws LanefoldError `invalid_agent` */
function checkNumbers(agent: string, definition: AgentDefinition): void {
  for (const name of optionsWith({ agent: true })) {
    const { schema, must }: RunOption = runOptions[name];
    if (must !== undefined) checkMust(agent, name, definition[name], { schema, must });
    else if (schema instanceof z.ZodNumber) check(agent, name, definition[name], schema.minValue ?? 0);
  }
  for (const [name, minimum] of Object.entries(minimums)) check(agent, name, definition[name as never], minimum);
}

function checkMust(agent: string, name: string, value: unknown, { schema, must }: RunOption): void {
  if (value === undefined || schema.safeParse(value).success) return;
  throw invalidAgent(agent, `${name} ${must}; got ${JSON.stringify(value)}`);
}

/** An agent may have more than a request may ask for: up to what can be counted. */
function check(agent: string, name: string, value: unknown, minimum: number): void {
  const maximum = name.endsWith('Ms') ? centuryMs : Infinity;
  if (value === undefined || (Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum))
    return;
  const range = maximum === Infinity ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  throw invalidAgent(agent, `${name} must be a whole number ${range}; got ${JSON.stringify(value)}`);
}

function checkEffectPolicy(agent: string, policy: EffectPolicy): EffectPolicy {
  const { mode = 'allow_list', allow = [], deny = [] } = policy;
  if (!['allow_list', 'allow_all', 'deny_all'].includes(mode))
    throw invalidAgent(
      agent,
      `effectPolicy.mode must be allow_list, allow_all or deny_all; got ${JSON.stringify(mode)}`,
    );
  const unknown = [...allow, ...deny].find((op) => !effectOps.includes(op));
  if (unknown !== undefined)
    throw invalidAgent(agent, `effectPolicy lists an unknown operation, ${JSON.stringify(unknown)}`);
  return policy;
}

/** @throws LanefoldError `invalid_agent` */
function checkOnEnd<OnEnd>(agent: string, strategy: string | object, onEnd: OnEnd): OnEnd {
  if (strategy !== 'react') throw invalidAgent(agent, 'onEnd needs the strategy react');
  if (typeof onEnd === 'function') return onEnd;
  if (!(onEnd instanceof Handoff)) throw invalidAgent(agent, 'onEnd must be handOff(…) or a function that returns it');
  if (onEnd.request.ask === undefined)
    throw invalidAgent(agent, 'the handoff of onEnd needs ask, a question for the next agent');
  if (onEnd.request.agent === agent) throw invalidAgent(agent, 'onEnd names the agent itself');
  return onEnd;
}

/** Checks the label of a version. Ids of versions are no labels. @throws LanefoldError `invalid_agent` */
function checkLabel(agent: string, label: unknown): void {
  if (!isLabel(label))
    throw invalidAgent(
      agent,
      'version must be 1 to 64 characters of [A-Za-z0-9_.-], starting with a letter or digit, and not v_ and 24 hexadecimal digits',
    );
}

/** Whether a value may be the label of a version. */
export const isLabel = (value: unknown): value is string =>
  typeof value === 'string' && /^(?!v_[0-9a-f]{24}$)[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(value);

/** @throws LanefoldError `invalid_agent` */
function checkResume(agent: string, resume: 'latest' | 'pinned'): 'latest' | 'pinned' {
  if (resume === 'latest' || resume === 'pinned') return resume;
  throw invalidAgent(agent, `resume must be latest or pinned; got ${JSON.stringify(resume)}`);
}

function checkOnCut(agent: string, onCut: OnCut): OnCut {
  if (['end', 'continue', 'fail'].includes(onCut)) return onCut;
  throw invalidAgent(agent, `onCut must be end, continue or fail; got ${JSON.stringify(onCut)}`);
}

function checkCallSettings(agent: string, settings: CallSettings): CallSettings {
  const { fault } = checkSettings(settings);
  if (!fault) return settings;
  throw invalidAgent(agent, `settings${fault.path && `.${fault.path}`} is invalid: ${fault.why}`);
}

const invalidAgent = (name: string, why: string): LanefoldError =>
  new LanefoldError('invalid_agent', `Agent ${JSON.stringify(name)} is invalid: ${why}.`, {
    hint: 'Fix the arguments of defineAgent.',
  });

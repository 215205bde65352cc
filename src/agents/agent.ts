import { LanefoldError } from '../errors.ts';
import type { JsonObject } from '../context/message.ts';
import { effectOps } from '../context/state.ts';
import { checkSettings, type CallSettings } from '../models/settings/call-settings.ts';
import { strategies } from '../strategies/registry.ts';
import type { OutputContract } from '../contracts/contract.ts';
import type { EffectPolicy } from '../tools/effects.ts';
import type { GuardTool } from '../tools/guard.ts';
import type { ToolListing } from '../tools/normalise.ts';
import type { RequestTransformer } from './transformer.ts';

/** What an agent is: code, not data. Runs name it; the log keeps what of it reached the model. */
export interface AgentDefinition {
  /** 1 to 64 characters of `[A-Za-z0-9_.-]`; runs and jobs carry it. */
  name: string;
  /** `provider:model` or an alias. */
  model: string;
  /** The system prompt of lanes nobody has given another one. Default: none. */
  instructions?: string | null;
  /** A list of `defineTool` tools, or a record of AI SDK or MCP tools by name. */
  tools?: ToolListing;
  /** `react` (default), `cot` (Chain of Thought) or `cod` (Chain of Draft); the last two are one call without tools. */
  strategy?: string;
  /** Tell the model, by a message in its context, that it repeats the same calls; default true. */
  cycleWarning?: boolean;
  /** Model calls of a run at most; default 10. The tools of the last call still run. */
  maxIterations?: number;
  /** Retries of one model call on rate limits, 5xx and lost connections; default 4. */
  maxModelRetries?: number;
  /** Settings of every model call, by the AI SDK's names. */
  settings?: CallSettings;
  /** Default true; false asks for the whole answer at once. */
  streaming?: boolean;
  /** Silence of a model stream until the run fails with `timeout`; default: `toolTimeoutMs` + 60,000. */
  idleTimeoutMs?: number;
  /** Per attempt of a tool; default 15,000. */
  toolTimeoutMs?: number;
  /** Attempts after the first, for retryable errors; default 1. */
  toolMaxRetries?: number;
  /** Pause between attempts; default 200. */
  toolRetryBackoffMs?: number;
  /** Tools of a round at work at once; default 4. */
  toolConcurrency?: number;
  /** Bytes of a tool result at most; default 262,144. */
  maxToolResultBytes?: number;
  /** Handed to every tool as `ctx.context`. */
  toolContext?: JsonObject;
  /** What the final answer must be: one JSON object of a schema, which becomes the run's `result`. Default: text. */
  output?: OutputContract;
  /** Sees and may change every model call; the function, or the name of a registered one. */
  requestTransformer?: RequestTransformer | string;
  /** Transformers that requests to this agent may choose by name. */
  requestTransformers?: Record<string, RequestTransformer>;
  /** How long a call waits for a person's yes until it is denied, in ms; default 7 days. */
  approvalTimeoutMs?: number;
  /** Which effects of tools on the thread's state count; default: all. */
  effectPolicy?: EffectPolicy;
  /** Looks at every tool call before it starts, and may block it. */
  guardTool?: GuardTool | null;
}

type Optional = 'requestTransformer' | 'output';

export type Agent = Readonly<Required<Omit<AgentDefinition, Optional>>> & Readonly<Pick<AgentDefinition, Optional>>;

/**
 * Checks an agent and fills in the defaults.
 *
 * @throws LanefoldError `invalid_agent` naming the field
 *
 * @example
 * const agent = defineAgent({ name: 'support', model: 'openai:gpt-5', instructions: 'Help.', tools: [lookUp] });
 */
export function defineAgent(definition: AgentDefinition): Agent {
  const { name } = definition;
  if (typeof name !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name)) {
    throw invalid(String(name), 'its name is not 1 to 64 characters of [A-Za-z0-9_.-]');
  }
  if (typeof definition.model !== 'string' || definition.model === '') throw invalid(name, 'it has no model');
  const strategy = definition.strategy ?? 'react';
  if (!Object.hasOwn(strategies, strategy)) {
    throw invalid(
      name,
      `there is no strategy ${JSON.stringify(strategy)}; known: ${Object.keys(strategies).join(', ')}`,
    );
  }
  if (definition.output && !strategies[strategy]!.output) throw invalid(name, `${strategy} keeps no output contract`);
  for (const key of atLeastOne) check(name, key, definition[key], 1);
  for (const key of atLeastZero) check(name, key, definition[key], 0);
  if (definition.guardTool && typeof definition.guardTool !== 'function')
    throw invalid(name, 'guardTool is no function');
  const toolTimeoutMs = definition.toolTimeoutMs ?? 15_000;
  return Object.freeze({
    name,
    model: definition.model,
    // an empty prompt is no prompt: providers refuse empty system messages
    instructions: definition.instructions || null,
    tools: definition.tools ?? [],
    strategy,
    cycleWarning: definition.cycleWarning ?? true,
    maxIterations: definition.maxIterations ?? 10,
    maxModelRetries: definition.maxModelRetries ?? 4,
    settings: usable(name, definition.settings ?? {}),
    streaming: definition.streaming ?? true,
    idleTimeoutMs: definition.idleTimeoutMs || toolTimeoutMs + 60_000,
    toolTimeoutMs,
    toolMaxRetries: definition.toolMaxRetries ?? 1,
    toolRetryBackoffMs: definition.toolRetryBackoffMs ?? 200,
    toolConcurrency: definition.toolConcurrency ?? 4,
    maxToolResultBytes: definition.maxToolResultBytes ?? 262_144,
    toolContext: definition.toolContext ?? {},
    requestTransformers: definition.requestTransformers ?? {},
    ...(definition.output ? { output: definition.output } : {}),
    ...(definition.requestTransformer ? { requestTransformer: definition.requestTransformer } : {}),
    approvalTimeoutMs: definition.approvalTimeoutMs ?? 604_800_000,
    guardTool: definition.guardTool ?? null,
    effectPolicy: checkPolicy(name, definition.effectPolicy ?? {}),
  });
}

const atLeastOne = [
  'maxIterations',
  'toolTimeoutMs',
  'toolConcurrency',
  'maxToolResultBytes',
  'approvalTimeoutMs',
] as const;
const atLeastZero = ['maxModelRetries', 'idleTimeoutMs', 'toolMaxRetries', 'toolRetryBackoffMs'] as const;

function check(agent: string, key: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least)) return;
  throw invalid(agent, `${key} is ${JSON.stringify(value)}, not a whole number from ${least}`);
}

function checkPolicy(agent: string, policy: EffectPolicy): EffectPolicy {
  const { mode = 'allow_list', allow = [], deny = [] } = policy;
  if (!['allow_list', 'allow_all', 'deny_all'].includes(mode))
    throw invalid(agent, `effectPolicy has the mode ${JSON.stringify(mode)}`);
  const unknown = [...allow, ...deny].find((op) => !effectOps.includes(op));
  if (unknown !== undefined) throw invalid(agent, `effectPolicy names the operation ${JSON.stringify(unknown)}`);
  return policy;
}

function usable(agent: string, settings: CallSettings): CallSettings {
  const { fault } = checkSettings(settings);
  if (!fault) return settings;
  throw invalid(agent, `its settings${fault.path && `.${fault.path}`} cannot be used: ${fault.why}`);
}

const invalid = (name: string, why: string): LanefoldError =>
  new LanefoldError('invalid_agent', `Agent ${JSON.stringify(name)} cannot be used: ${why}.`, {
    hint: 'Correct the call of defineAgent.',
  });

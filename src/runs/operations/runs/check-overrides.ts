import { defaultIdleMs } from '../../../agent/definition/agent.ts';
import { isCost, noCost } from '../../../agent/definition/cost.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import type { ContentPart } from '../../../agent/context/message.ts';
import type { Counting } from '../../../agent/models/counting/counting.ts';
import { limitsOf } from '../../../agent/policy/limits.ts';
import type { PolicyOption } from '../../../agent/policy/policy.ts';
import { readPolicy, storedOption } from '../../../agent/policy/read-policy.ts';
import type { RunOptions } from '../../../agent/definition/run-options.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { checkSettings, type CallSettings } from '../../../agent/models/settings/call-settings.ts';
import { reservedHeader } from '../../../agent/models/settings/reserved.ts';
import type { ModelSettings } from '../../../agent/models/settings/settings.ts';
import type { OutputOption, StoredContract } from '../../../agent/contracts/contract.ts';
import { toStoredContract } from '../../../agent/contracts/read-contract.ts';
import type { StrategyOptions } from '../../../agent/strategies/types.ts';
import { unknownTools } from '../../../agent/tools/lookup.ts';
import { assertWhole } from '../../../base/checks/whole-number.ts';
import { chooseStrategy } from './choose-strategy.ts';

/** More than any request needs. It does not bind an agent's own limits, which the operator chooses. */
export const maxIterationsLimit = 10_000;
export const maxTimeoutMs = 86_400_000;

/** What a request may override in its agent, for its run only. */
export interface RunOverrides<
  OUT extends OutputOption | undefined = OutputOption | undefined,
  CHOSEN extends string = string,
> {
  /** The name of a strategy: built in, from an agent, or from `createLanefold({ strategies })`. */
  strategy?: CHOSEN;
  /** Options of the strategy, merged over the agent's if the agent has the same strategy. */
  strategyOptions?: StrategyOptions<CHOSEN>;
  /** Names of tools of the agent or of `createLanefold({ tools })`; they replace the agent's and the thread's tools. */
  tools?: string[];
  /** Restricts the tools to these; `[]` for none. */
  allowedTools?: string[];
  /** Merged over the agent's settings, key by key; provider options are replaced whole. */
  settings?: CallSettings;
  /** HTTP headers of the model calls, added to those of `settings`. Stored with the run for its workers. */
  headers?: Record<string, string>;
  /** The name of a transformer of the agent or of `createLanefold`, instead of the agent's own. */
  requestTransformer?: string;
  /** How the context is cut before a model call: a policy or a preset, which replaces the agent's and the thread's. */
  contextPolicy?: PolicyOption;
  /** Overrides the agent's limit on model calls. */
  maxIterations?: number;
  /** Tokens after which the run ends with the best result it has. */
  maxTotalTokens?: number;
  /**
   * What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could cost
   * more than is left.
   */
  maxCost?: number;
  /** Time since its start after which the run ends with the best result it has. */
  maxDurationMs?: number;
  streaming?: boolean;
  /** How long a model may be silent before the run fails with `timeout`; 0 for the tool timeout + 60,000. */
  idleTimeoutMs?: number;
  /** Replaces the agent's contract; `raw` for plain text. */
  output?: OUT;
  /** Per attempt, for tools that define no timeout. */
  toolTimeoutMs?: number;
}

/** Converts the overrides to the form in which they are stored; rejects those that the run could not follow. */
export async function toRunOptions(
  agents: AgentRegistry,
  agent: string,
  given: RunOverrides & { input: string | ContentPart[] },
): Promise<RunOptions> {
  const { tools, allowedTools, maxIterations, streaming, idleTimeoutMs, toolTimeoutMs, requestTransformer } = given;
  const { maxTotalTokens, maxCost, maxDurationMs, contextPolicy } = given;
  assertWhole(maxIterations, 'maxIterations', { minimum: 1, maximum: maxIterationsLimit, hint });
  assertWhole(maxTotalTokens, 'maxTotalTokens', { minimum: 1, hint });
  if (maxCost !== undefined && !isCost(maxCost)) throw invalid('maxCost', noCost);
  assertWhole(maxDurationMs, 'maxDurationMs', { minimum: 1, hint });
  assertWhole(idleTimeoutMs, 'idleTimeoutMs', { maximum: maxTimeoutMs, hint });
  assertWhole(toolTimeoutMs, 'toolTimeoutMs', { minimum: 1, maximum: maxTimeoutMs, hint });
  if (streaming !== undefined && typeof streaming !== 'boolean') throw invalid('streaming', 'must be true or false');
  if (requestTransformer !== undefined) agents.transformer(agent, requestTransformer);
  assertTools(agents, agent, tools, allowedTools);
  const { machine, selection, options: strategyOptions } = chooseStrategy(agents, agent, given);
  const { instructions } = agents.get(agent);
  const settings = toSettings(given);
  const toolTimeout = toolTimeoutMs ?? agents.get(agent).toolTimeoutMs;
  return {
    ...(tools ? { tools: [...new Set(tools)] } : {}),
    ...(allowedTools ? { allowed_tools: [...new Set(allowedTools)].sort() } : {}),
    ...(settings ? { settings } : {}),
    ...(requestTransformer === undefined ? {} : { request_transformer: requestTransformer }),
    ...(contextPolicy === undefined ? {} : { context_policy: storedOption(contextPolicy) }),
    ...(maxIterations === undefined ? {} : { max_iterations: maxIterations }),
    ...(maxTotalTokens === undefined ? {} : { max_total_tokens: maxTotalTokens }),
    ...(maxCost === undefined ? {} : { max_cost: maxCost }),
    ...(maxDurationMs === undefined ? {} : { max_duration_ms: maxDurationMs }),
    ...(given.strategy !== undefined || given.strategyOptions !== undefined ? { named_strategy: true as const } : {}),
    ...(strategyOptions ? { strategy_options: strategyOptions } : {}),
    ...(selection ? { selection } : {}),
    ...(machine.input === false ? { takes_input: false as const } : {}),
    ...(streaming === undefined ? {} : { streaming }),
    ...(idleTimeoutMs === undefined ? {} : { idle_timeout_ms: idleTimeoutMs || defaultIdleMs(toolTimeout) }),
    ...(toolTimeoutMs === undefined ? {} : { tool_timeout_ms: toolTimeoutMs }),
    ...(machine.prompt && instructions === null ? { prompt: machine.prompt } : {}),
    ...(given.output === undefined ? {} : { output: await toOutput(given.output) }),
  };
}

/**
 * Rejects a policy that names something this process does not have, or that needs the model's window if it is unknown.
 *
 * @throws LanefoldError `invalid_policy`, `unknown_window`
 */
export async function checkPolicy(counting: Counting, model: string, option: PolicyOption | undefined): Promise<void> {
  if (option === undefined) return;
  const policy = readPolicy(option);
  counting.check(policy);
  if (policy.max_input_tokens === 'window') limitsOf(policy, { model, window: await counting.windowOf(model) });
}

async function toOutput(output: OutputOption): Promise<StoredContract | 'raw'> {
  if (output === 'raw') return 'raw';
  if (typeof output !== 'object' || output === null) throw invalid('output', 'must be a contract or "raw"');
  return output.mode === 'raw' ? 'raw' : toStoredContract(output);
}

function assertTools(agents: AgentRegistry, agent: string, tools?: unknown, allowed?: unknown): void {
  for (const [key, names] of Object.entries({ tools, allowedTools: allowed })) {
    if (names === undefined) continue;
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
      throw invalid(key, 'must be a list of names');
    }
  }
  const registered = new Set([...agents.get(agent).tools.keys(), ...agents.extraTools.keys()]);
  const selected = tools ? new Set(tools as string[]) : registered;
  refuseUnknown((tools ?? []) as string[], registered);
  refuseUnknown((allowed ?? []) as string[], selected);
}

function refuseUnknown(names: string[], known: ReadonlySet<string>): void {
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) throw unknownTools(unknown, known);
}

function toSettings({ settings, headers }: RunOverrides): ModelSettings | undefined {
  if (settings === undefined && headers === undefined) return undefined;
  for (const [key, value] of Object.entries({ settings, headers })) {
    if (value !== undefined && (typeof value !== 'object' || value === null)) throw invalid(key, 'must be an object');
  }
  const reserved = reservedHeader({ ...settings?.headers, ...headers });
  if (reserved !== undefined) throw invalid(`headers.${reserved}`, 'is a header that only the agent may set');
  const merged = { ...settings, ...(headers ? { headers: { ...settings?.headers, ...headers } } : {}) };
  const checked = checkSettings(merged);
  if (checked.fault) throw invalid(`settings.${checked.fault.path}`, `is invalid: ${checked.fault.why}`);
  return checked.settings;
}

const hint = 'Omit it to use the agent’s own.';

const invalid = (key: string, why: string): LanefoldError =>
  new LanefoldError('invalid_input', `${key} ${why}.`, { hint });

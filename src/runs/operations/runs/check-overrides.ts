import { defaultIdleMs } from '../../../agent/definition/agent.ts';
import { checkOptions, asStored, type OptionsWith } from '../../../agent/definition/options.ts';
import { assertLimitKeys } from '../../../agent/limits/dimensions.ts';
import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { type ContentPart, type JsonObject, textOf } from '../../../agent/context/message.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import { limitsOf } from '../../../agent/policy/policy.ts';
import { type PolicyOption } from '../../../agent/policy/types.ts';
import { readPolicy, storedOption } from '../../../agent/policy/read-policy.ts';
import type { RunOptions } from '../../../agent/definition/run-options.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { checkSettings, reservedHeader, type ModelSettings } from '../../../agent/models/settings.ts';
import type { OutputOption, StoredContract } from '../../../agent/contracts/contract.ts';
import { toStoredContract } from '../../../agent/contracts/read-contract.ts';
import type { StrategyOptions } from '../../../agent/strategies/types.ts';
import { unknownTools } from '../../../agent/tools/toolset.ts';
import { parseOptions, type Strategy } from '../../../agent/strategies/registry.ts';
import type { StrategySelection } from '../../../agent/strategies/records.ts';

/** What a request may override in its agent, and say about its run. `CHOSEN`: the name of its strategy, if it is known. */
export interface RunOverrides<
  OUT extends OutputOption | undefined = OutputOption | undefined,
  CHOSEN extends string = string,
> extends Omit<OptionsWith<object>, 'strategy' | 'strategyOptions' | 'output'> {
  /** The name of a strategy: built in, from an agent, or from `createLanefold({ strategies })`. */
  strategy?: CHOSEN;
  /** Options of the strategy, merged over the agent's if the agent has the same strategy. */
  strategyOptions?: StrategyOptions<CHOSEN>;
  /** Replaces the agent's contract; `raw` for plain text. */
  output?: OUT;
}

/** Converts the overrides to the form in which they are stored; rejects those that the run could not follow. */
export async function toRunOptions(
  agents: AgentRegistry,
  agent: string,
  given: RunOverrides & { input: string | ContentPart[] },
): Promise<RunOptions> {
  const { tools, allowedTools, requestTransformer, contextPolicy, idleTimeoutMs, toolTimeoutMs } = given;
  checkOptions(given as OptionsWith<object>);
  assertLimitKeys(given.limitKeys);
  if (requestTransformer !== undefined) agents.transformer(agent, requestTransformer);
  assertTools(agents, agent, tools, allowedTools);
  const { machine, selection, options: strategyOptions } = chooseStrategy(agents, agent, given);
  const { instructions, toolTimeoutMs: toolTimeout } = agents.get(agent);
  const settings = toSettings(given);
  return {
    ...asStored(given),
    ...(tools ? { tools: [...new Set(tools)] } : {}),
    ...(allowedTools ? { allowed_tools: [...new Set(allowedTools)].sort() } : {}),
    ...(settings ? { settings } : {}),
    ...(contextPolicy === undefined ? {} : { context_policy: storedOption(contextPolicy) }),
    ...(given.strategy !== undefined || given.strategyOptions !== undefined ? { named_strategy: true as const } : {}),
    ...(strategyOptions ? { strategy_options: strategyOptions } : {}),
    ...(selection ? { selection } : {}),
    ...(machine.input === false ? { takes_input: false as const } : {}),
    ...(idleTimeoutMs === undefined
      ? {}
      : { idle_timeout_ms: idleTimeoutMs || defaultIdleMs(toolTimeoutMs ?? toolTimeout) }),
    ...(machine.prompt && instructions === null ? { prompt: machine.prompt } : {}),
    ...(given.output === undefined ? {} : { output: await toOutput(given.output) }),
    ...(given.priority ? { priority: given.priority } : {}),
    ...(given.onFailure === 'rewind' ? { on_failure: given.onFailure } : {}),
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

/** The strategy that executes a run. */
interface ChosenStrategy {
  machine: Strategy;
  /** With defaults filled in; undefined for a strategy that takes none. */
  options: JsonObject | undefined;
  /** Present if the strategy of the request chose this one. */
  selection?: StrategySelection;
}

/** The parts of a request that concern its strategy. */
interface Request {
  input: string | ContentPart[];
  strategy?: string;
  strategyOptions?: object;
  tools?: string[];
  allowedTools?: string[];
  output?: OutputOption;
}

/** Finds the strategy that executes a request, and rejects options that the strategy does not support. */
function chooseStrategy(agents: AgentRegistry, agent: string, given: Request): ChosenStrategy {
  const chosen = selectStrategy(agents, agent, given);
  const { machine, selection } = chosen;
  const name = selection ? `${machine.name}, chosen for this question,` : machine.name;
  if (!machine.tools && (given.tools || given.allowedTools)) {
    throw new LanefoldError('invalid_input', `tools has no effect: the strategy ${name} uses no tools.`, {
      hint: 'Omit it to use the agent’s own.',
    });
  }
  const contract = given.output ?? agents.get(agent).output ?? 'raw';
  if (!machine.output && contract !== 'raw' && contract.mode !== 'raw') {
    throw new LanefoldError('invalid_output', `The strategy ${name} does not support output contracts.`, {
      hint: 'Use the strategy react, or output: "raw".',
    });
  }
  return chosen;
}

/** The strategy that executes a request: its own, or the one that its own chooses for the question. */
export function selectStrategy(
  agents: AgentRegistry,
  agent: string,
  { strategy, strategyOptions, input }: Pick<Request, 'strategy' | 'strategyOptions' | 'input'>,
): ChosenStrategy {
  const own = agents.get(agent);
  const machine = agents.strategies.find(strategy ?? own.strategy);
  const inherited = machine.name === own.strategy ? own.strategyOptions : undefined;
  const options = parseOptions(machine, { ...inherited, ...strategyOptions });
  if (!machine.select) return { machine, options };
  const selection = machine.select(textOf(input), options ?? {});
  const chosen = agents.strategies.find(selection.strategy);
  if (chosen.select) {
    throw new LanefoldError('invalid_input', `The strategy ${machine.name} cannot choose ${chosen.name}.`, {
      hint: 'Leave it out of available and of strategy.',
    });
  }
  const theirs = (options?.['options'] ?? {}) as Record<string, object>;
  return { machine: chosen, selection, options: parseOptions(chosen, theirs[chosen.name]) };
}

import { problemOf, asKeys, optionsWith, type RunOptionName } from '../../../agent/definition/options.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import { assertId } from '../../../base/checks/ids.ts';
import { assertStorable, promptOf } from '../../../base/checks/values.ts';
import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { storedOption } from '../../../agent/policy/read-policy.ts';
import type { StoredEval, StoredVariant } from '../store/evals.ts';
import { invalid } from './invalid-eval.ts';
import type { EvalDefinition, EvalVariant } from './types.ts';

const bounds = optionsWith({ evals: 'bound' });
const keys: KeysOf<EvalDefinition> = {
  dataset: true,
  tag: true,
  split: true,
  variants: true,
  repeats: true,
  tools: true,
  stubs: true,
  concurrency: true,
  priority: true,
  fresh: true,
  judge: true,
  ...asKeys(bounds),
};
const variantKeys: KeysOf<EvalVariant> = {
  name: true,
  agent: true,
  version: true,
  model: true,
  contextPolicy: true,
  systemPrompt: true,
};
const mostVariants = 20;
const longestName = 100;
const longestStubs = 65_536;

/** Checks what an eval is asked to do, except agents, models and policies, and fills in defaults. @throws LanefoldError `invalid_input` */
export function readDefinition(given: EvalDefinition): StoredEval {
  refuseUnknownKeys('evals.run', given, keys);
  const { dataset, tag, split, tools = 'recorded', stubs, fresh = false, judge, priority = 1_000 } = given;
  assertId(dataset, 'The dataset');
  if (!['recorded', 'live', 'stubs'].includes(tools)) throw invalid('tools', 'must be recorded, live or stubs');
  if ((tools === 'stubs') !== (stubs !== undefined)) throw invalid('stubs', 'go together with tools: "stubs"');
  if (stubs !== undefined && !isObject(stubs)) throw invalid('stubs', 'must be an object with a result for each tool');
  if (stubs !== undefined && JSON.stringify(stubs).length > longestStubs)
    throw invalid('stubs', `have more than ${longestStubs.toLocaleString('en')} characters`);
  assertStorable(stubs, 'The eval');
  for (const [name, value] of Object.entries({ priority, ...only(given, bounds) })) {
    const problem = problemOf(name as RunOptionName, value);
    if (problem !== undefined) throw invalid(name, problem);
  }
  if (typeof fresh !== 'boolean') throw invalid('fresh', 'must be true or false');
  if (judge !== undefined) refuseUnknownKeys('judge of evals.run', judge, { agent: true, model: true });
  if (judge !== undefined && typeof judge.agent !== 'string')
    throw invalid('judge.agent', 'must be the name of an agent');
  return {
    dataset,
    tools,
    fresh,
    variants: variantsOf(given.variants ?? [{}]),
    repeats: whole('repeats', given.repeats ?? 1, 1, 20),
    concurrency: whole('concurrency', given.concurrency ?? 4, 1, 100),
    priority,
    ...omitUndefined({ tag, split, stubs, judge, ...snakeKeys(only(given, bounds)) }),
  };
}

function variantsOf(given: readonly EvalVariant[]): StoredVariant[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > mostVariants)
    throw invalid('variants', `must be a list of 1 to ${mostVariants}`);
  const variants = given.map((variant: EvalVariant) => {
    if (typeof variant !== 'object' || variant === null) throw invalid('variants', 'must be objects');
    refuseUnknownKeys('variants of evals.run', variant, variantKeys);
    const { name, agent, version, model, contextPolicy, systemPrompt } = variant;
    assertStorable(systemPrompt, 'The system prompt of a variant');
    return {
      name: nameOf(name ?? nameFrom(variant)),
      ...omitUndefined({ agent, version, model }),
      ...(contextPolicy === undefined ? {} : { context_policy: storedOption(contextPolicy) }),
      ...(systemPrompt === undefined ? {} : { system_prompt: promptOf(systemPrompt) }),
    };
  });
  const twice = variants.find(({ name }, i) => variants.some((other, j) => j < i && other.name === name));
  if (twice) throw invalid('variants', `has two that are named ${twice.name}; give them names`);
  return variants;
}

const only = <T extends object, K extends keyof T>(given: T, names: readonly K[]): Partial<Pick<T, K>> =>
  Object.fromEntries(names.map((name) => [name, given[name]])) as Partial<Pick<T, K>>;

function nameOf(name: unknown): string {
  if (typeof name !== 'string' || name.trim() === '' || name.length > longestName)
    throw invalid('variants', `must have names of up to ${longestName} characters`);
  assertStorable(name, 'The name of a variant');
  return name;
}

/** Made of what differs. */
function nameFrom({ agent, version, model, contextPolicy, systemPrompt }: EvalVariant): string {
  const policy = typeof contextPolicy === 'string' ? contextPolicy : contextPolicy && 'policy';
  const parts = [agent, version, model, policy, systemPrompt === undefined ? undefined : 'prompt'];
  return parts.filter((part) => part !== undefined).join(' ') || 'current';
}

function whole(field: string, value: number, from: number, to: number): number {
  if (Number.isSafeInteger(value) && value >= from && value <= to) return value;
  throw invalid(field, `must be a whole number from ${from.toLocaleString('en')} to ${to.toLocaleString('en')}`);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

import { optionsWith } from '../../../agent/definition/options.ts';
import type { Json } from '../../../agent/context/message.ts';
import { modelGiven, modelStored, readChain } from '../../../agent/models/model-chain.ts';
import { storedOption, toPolicyOption } from '../../../agent/policy/read-policy.ts';
import { assertStorable, promptOf } from '../../../base/checks/values.ts';
import { camelKeys, snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { StoredEval, StoredVariant } from '../store/evals.ts';
import { invalidEval } from '../invalid.ts';
import type { EvalDefinition, EvalVariant } from '../store/types.ts';

const bounds = optionsWith({ evals: 'bound' });
const longestName = 100;
const longestStubs = 65_536;

/**
 * The definition of an eval as the database keeps it, with its defaults. Checks what its schemas do not say, except agents, models
 * and policies.
 *
 * @throws LanefoldError `invalid_input`
 */
export function toStored(given: EvalDefinition): StoredEval {
  const { dataset, tag, split, caseIds, tools = 'recorded', stubs, fresh = false, judge } = given;
  if ((tools === 'stubs') !== (stubs !== undefined)) throw invalidEval('stubs', 'go together with tools: "stubs"');
  if (stubs !== undefined && JSON.stringify(stubs).length > longestStubs)
    throw invalidEval('stubs', `have more than ${longestStubs.toLocaleString('en')} characters`);
  assertStorable(stubs, 'The eval');
  const bounded = Object.fromEntries(bounds.map((name) => [name, given[name]]));
  return {
    dataset,
    tools,
    fresh,
    variants: variantsOf(given.variants ?? [{}]),
    repeats: given.repeats ?? 1,
    concurrency: given.concurrency ?? 4,
    priority: given.priority ?? 1_000,
    ...omitUndefined({
      tag,
      split,
      case_ids: caseIds && [...caseIds],
      stubs,
      judge: judge && modelStored(judge),
      ...snakeKeys(bounded),
    }),
  };
}

function variantsOf(given: readonly EvalVariant[]): StoredVariant[] {
  const variants = given.map((variant) => {
    const { name = nameFrom(variant), agent, version, model, contextPolicy, systemPrompt } = variant;
    if (name.length > longestName) throw invalidEval('variants', `must have names of up to ${longestName} characters`);
    assertStorable([name, agent, version, systemPrompt], 'A variant');
    return {
      name,
      ...modelStored(omitUndefined({ agent, version, model })),
      ...(contextPolicy === undefined ? {} : { context_policy: storedOption(contextPolicy) }),
      ...(systemPrompt === undefined ? {} : { system_prompt: promptOf(systemPrompt) }),
    };
  });
  const twice = variants.find(({ name }, i) => variants.some((other, j) => j < i && other.name === name));
  if (twice) throw invalidEval('variants', `has two that are named ${twice.name}; give them names`);
  return variants;
}

/** Made of what differs. */
function nameFrom({ agent, version, model, contextPolicy, systemPrompt }: EvalVariant): string {
  const policy = typeof contextPolicy === 'string' ? contextPolicy : contextPolicy && 'policy';
  const models = model === undefined ? undefined : readChain(model, 'A variant').models.join(', ');
  const parts = [agent, version, models, policy, systemPrompt === undefined ? undefined : 'prompt'];
  return parts.filter((part) => part !== undefined).join(' ') || 'current';
}

/** A stored definition as a caller would give it, with the defaults. */
export const fromStored = ({ variants, judge, ...spec }: StoredEval): EvalDefinition => ({
  ...(camelKeys(judge ? { ...spec, judge: modelGiven(judge) } : spec) as unknown as EvalDefinition),
  variants: variants.map(toVariant),
});

function toVariant({ context_policy: policy, system_prompt: systemPrompt, ...variant }: StoredVariant): EvalVariant {
  const contextPolicy = policy === undefined ? undefined : policyOf(policy);
  return { ...modelGiven(variant), ...omitUndefined({ systemPrompt, contextPolicy }) };
}

const policyOf = (stored: Json) => toPolicyOption(stored as string | object);

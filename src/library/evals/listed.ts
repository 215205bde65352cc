import { camelKeys } from '../../common/case.ts';
import { omitUndefined } from '../../common/omit-undefined.ts';
import type { Json } from '../../context/message.ts';
import type { ModelName } from '../../models/registry/model-name.ts';
import type { PolicyOption } from '../../policy/policy.ts';
import type { EvalRow, StoredEval, StoredVariant } from '../../store/eval/evals.ts';
import type { EvalDefinition, EvalVariant, ListedEval } from './types.ts';

const none = { waiting: 0, running: 0, scoring: 0, done: 0, failed: 0, skipped: 0, erased: 0 };

export const toListed = (
  { spec, items, queuePrefix: _, ...row }: EvalRow,
  unattended: ReadonlyMap<string, string[]>,
): ListedEval => ({
  ...row,
  unattended: unattended.get(row.id) ?? [],
  spec: fromStored(spec),
  items: { ...none, ...items },
});

const fromStored = ({ variants, max_cost: maxCost, max_duration_ms: maxDurationMs, judge, ...spec }: StoredEval) => ({
  ...spec,
  variants: variants.map(toVariant),
  ...omitUndefined({ maxCost, maxDurationMs, judge: judge as EvalDefinition['judge'] }),
});

function toVariant({
  context_policy: policy,
  system_prompt: systemPrompt,
  model,
  ...variant
}: StoredVariant): EvalVariant {
  const contextPolicy = policy === undefined ? undefined : policyOf(policy);
  return { ...variant, ...omitUndefined({ model: model as ModelName | undefined, systemPrompt, contextPolicy }) };
}

const policyOf = (stored: Json): PolicyOption =>
  (typeof stored === 'string' ? stored : camelKeys(stored as object)) as PolicyOption;

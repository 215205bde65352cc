import type { EnqueueDeps } from '../../../runs/operations/runs/enqueue-options.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import { newId } from '../../../base/checks/ids.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { listCases, type StoredCase } from '../store/cases.ts';
import { startEval, type StoredEval } from '../store/evals.ts';
import { assertRunOverrides } from '../../../runs/operations/runs/allow-overrides.ts';
import { checkPolicy } from '../../../runs/operations/runs/check-overrides.ts';
import { invalidEval } from '../invalid.ts';
import { toStored } from './stored.ts';
import { readChain } from '../../../agent/models/model-chain.ts';
import type { EvalDefinition } from '../store/types.ts';

const mostItems = 50_000;
const dollar = 1_000_000;

/** Starts an eval of a tenant's cases, and returns its id. See `Evals.run`. */
export async function startEvalOf(
  deps: EnqueueDeps,
  tenant: string,
  given: EvalDefinition,
  { by, from, queuePrefix }: { by: string; from: OverrideCaller; queuePrefix: string | null },
): Promise<string> {
  const spec = toStored(given);
  const { dataset, variants, repeats } = spec;
  const cases = await casesIn(deps.db, spec, Math.floor(mostItems / (variants.length * repeats)));
  if (cases.length === 0) {
    throw new LanefoldError('dataset_empty', `Dataset ${dataset} has no case to run.`, {
      hint: 'Nothing was written. Keep cases with `lanefold cases keep`; those of erased threads are left out.',
    });
  }
  await checkVariants(deps, given, cases, from);
  // so that an eval that is cancelled has whole cases, each under all variants
  const items = Array.from({ length: repeats }, (_, i) => i + 1).flatMap((repeat) =>
    cases.flatMap(({ id, threadId, agent, tags }) =>
      variants.map((variant) => ({
        case_id: id,
        thread_id: threadId,
        tags,
        repeat,
        variant: variant.name,
        agent: variant.agent ?? agent,
      })),
    ),
  );
  const id = newId('eval');
  const micros = spec.max_cost === undefined ? undefined : Math.max(1, Math.round(spec.max_cost * dollar));
  const p = {
    dataset,
    queue_prefix: queuePrefix,
    spec,
    concurrency: spec.concurrency,
    by,
    items,
    ...omitUndefined({ max_cost_micros: micros }),
  };
  await startEval(deps.db, tenant, id, p as unknown as JsonObject);
  return id;
}

async function casesIn(
  db: Database,
  { dataset, tag, split, case_ids: ids }: Pick<StoredEval, 'dataset' | 'tag' | 'split' | 'case_ids'>,
  most: number,
): Promise<StoredCase[]> {
  const cases: StoredCase[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await listCases(db, { dataset, tag, split, ids, after, limit: 1_000 });
    cases.push(...page.data.filter(({ erasedAt }) => !erasedAt));
    if (cases.length > most)
      throw invalidEval(
        'repeats',
        `and the variants would make more than ${mostItems.toLocaleString('en')} items of the cases of ${dataset}`,
      );
    after = page.nextAfter;
  }
  const missing = ids?.find((id) => !cases.some((each) => each.id === id));
  if (missing !== undefined)
    throw invalidEval('caseIds', `names ${missing}, which is not among the cases of ${dataset} that the eval asks`);
  return cases;
}

/** Agents, models and policies of all items. A process without agents leaves them to the workers. */
async function checkVariants(
  { agents, models, counting }: EnqueueDeps,
  { variants = [{}], judge }: EvalDefinition,
  cases: readonly StoredCase[],
  from: OverrideCaller,
): Promise<void> {
  const known = agents.names.length > 0 || from === 'http';
  for (const variant of variants) {
    const { agent, version, model, contextPolicy, systemPrompt } = variant;
    const chain = model === undefined ? [] : readChain(model, 'A variant').models;
    for (const each of chain) models.check(each);
    for (const name of agent === undefined ? new Set(cases.map((each) => each.agent)) : [agent]) {
      if (known)
        assertRunOverrides(
          agents.under(name, version),
          models,
          { agent: name, ...omitUndefined({ version, model, contextPolicy, systemPrompt }) },
          from,
        );
      for (const each of chain.length > 0 ? chain : [modelOf(cases, name)])
        await checkPolicy(counting, each, contextPolicy);
    }
  }
  if (judge?.model !== undefined) for (const each of readChain(judge.model, 'The judge').models) models.check(each);
  if (judge && known)
    assertRunOverrides(agents, models, { agent: judge.agent, ...omitUndefined({ model: judge.model }) }, from);
}

const modelOf = (cases: readonly StoredCase[], agent: string): string =>
  cases.find((each) => each.agent === agent)?.model ?? cases[0]!.model;

import type { EvalItem } from '../store/types.ts';
import type { ScorerSummary, VariantSummary } from './report.ts';
import { countItem, meanOf, sumOf } from './rule.ts';

/** All items of one variant together. */
export function summarise(variant: string, items: readonly EvalItem[]): VariantSummary {
  const counted = items.map(countItem).filter((each) => each !== null);
  const passed = counted.filter(({ passes }) => passes).length;
  const count = (test: (item: EvalItem) => boolean): number => items.filter(test).length;
  const ended = items.filter(({ status }) => status === 'done' || status === 'failed');
  const costs = known(ended.map(({ costMicros }) => costMicros));
  // a run that the budget of the eval ended has cost something too
  const unpaid = known(items.filter(({ status }) => status === 'skipped').map(({ costMicros }) => costMicros));
  const durations = known(ended.map(({ durationMs }) => durationMs)).sort((a, b) => a - b);
  return {
    variant,
    items: items.length,
    scored: counted.length,
    passed,
    passRate: counted.length === 0 ? null : passed / counted.length,
    score: meanOf(counted.map(({ score }) => score)),
    scorers: summariseScorers(items),
    failures: count(({ status }) => status === 'failed'),
    erased: count(({ status }) => status === 'erased'),
    skipped: count(({ status }) => status === 'skipped'),
    unscored: count((item) => item.status === 'done' && countItem(item) === null),
    pending: count(({ status }) => status === 'waiting' || status === 'running' || status === 'scoring'),
    diverged: count(({ diverged }) => diverged !== null),
    reused: count(({ reused }) => reused),
    costMicros: costs.length + unpaid.length === 0 ? null : sumOf([...costs, ...unpaid]),
    unpriced: ended.length - costs.length,
    inputTokens: sumOf(known(ended.map(({ inputTokens }) => inputTokens))),
    outputTokens: sumOf(known(ended.map(({ outputTokens }) => outputTokens))),
    estimatedTokens: sumOf(known(ended.map(({ estimatedTokens = null }) => estimatedTokens))),
    p50Ms: nearestRank(durations, 0.5),
    p95Ms: nearestRank(durations, 0.95),
  };
}

function summariseScorers(items: readonly EvalItem[]): ScorerSummary[] {
  const all = items.filter(({ status }) => status === 'done').flatMap(({ scores }) => scores);
  const names = [...new Set(all.map(({ scorer }) => scorer))].sort();
  return names.map((scorer) => {
    const own = all.filter((score) => score.scorer === scorer);
    const values = known(own.map(({ score }) => score));
    const errors = own.filter(({ error }) => error !== null).length;
    const { length: scored } = values;
    return { scorer, score: meanOf(values), scored, notApplicable: own.length - scored - errors, errors };
  });
}

const known = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);

/** The smallest value that at least this share of the values does not exceed. */
const nearestRank = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;

import { toSnakeCase } from '../../../base/common/case.ts';
import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { EvalReport } from './report.ts';

/**
 * The report as JSON, with the fields of `EvalReport` in snake_case and a number of the format:
 *
 * ```text
 * { "format": 1, "baseline": text | null, "seed": number, "resamples": number,
 *   "variants": [{ "variant", "items", "scored", "passed", "pass_rate", "score",
 *     "scorers": [{ "scorer", "score", "scored", "not_applicable", "errors" }],
 *     "failures", "erased", "unscored", "pending", "diverged", "reused",
 *     "cost_micros", "unpriced", "input_tokens", "output_tokens", "estimated_tokens", "p50_ms", "p95_ms" }],
 *   "comparisons": [{ "baseline", "candidate", "verdict", "cases", "pairs", "unpaired", "paired"?: { "baseline", "candidate" } as in "variants",
 *     "difference": { "mean", "low", "high" }, "pass_rate_difference": { "mean", "low", "high" },
 *     "better", "worse", "same",
 *     "by_tag": [{ "tag", "verdict", "cases", "difference", "better", "worse", "same" }],
 *     "by_case": [{ "case_id", "tags", "repeats", "baseline", "candidate", "difference", "repeat",
 *       "baseline_answer": { "score", "answer", "reasons" }, "candidate_answer": { … } }] }] }
 * ```
 *
 * Rates and scores are 0 to 1, costs millionths of a US dollar. A value that cannot be known is null. Later versions may add fields;
 * `format` changes if one changes its meaning.
 *
 * @example
 * ```ts
 * import { reportOf, toJson } from 'lanefold/evals';
 *
 * console.log(JSON.stringify(toJson(reportOf([]))));
 * ```
 */
export const toJson = (report: EvalReport): JsonObject => ({ format: 1, ...(snakeDeep(report) as JsonObject) });

/** Every key of a report is a field of ours: text of users and models occurs only in values. */
function snakeDeep(value: unknown): Json {
  if (Array.isArray(value)) return value.map(snakeDeep);
  if (typeof value !== 'object' || value === null) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [toSnakeCase(key), snakeDeep(item)]));
}

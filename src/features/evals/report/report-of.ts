import { LanefoldError } from '../../../base/errors.ts';
import type { EvalItem } from '../store/types.ts';
import { checkBootstrap, compareVariants } from './compare.ts';
import type { EvalReport, ReportOptions } from './report.ts';
import { summarise } from './summarise.ts';

/**
 * The report of an eval: each variant, and the baseline compared with each other variant.
 *
 * @throws LanefoldError `invalid_input` for a baseline without items, two items of the same case, variant and repeat,
 * or an invalid seed or number of resamples
 *
 * @example
 * ```ts
 * import { reportOf, toMarkdown, type EvalItem } from 'lanefold/evals';
 *
 * const item: EvalItem = {
 *   ...{ caseId: 'case_1', tags: ['refund'], variant: 'a', repeat: 1, status: 'done', answer: '20 €', error: null },
 *   scores: [{ scorer: 'answer', version: '1', score: 1, reason: null, error: null }],
 *   ...{ durationMs: 800, inputTokens: 90, outputTokens: 8, costMicros: 120, endedBy: null, diverged: null, reused: false },
 * };
 * const scores = [{ scorer: 'answer', version: '1', score: 0, reason: null, error: null }];
 * const worse: EvalItem = { ...item, variant: 'b', answer: 'I do not know.', scores };
 * console.log(toMarkdown(reportOf([item, worse], { baseline: 'a' })));
 * ```
 */
export function reportOf(items: readonly EvalItem[], options: ReportOptions = {}): EvalReport {
  const bootstrap = checkBootstrap(options);
  const names = [...new Set(items.map(({ variant }) => variant))];
  const first = options.baseline ?? names[0];
  if (options.baseline !== undefined && !names.includes(options.baseline))
    throw new LanefoldError('invalid_input', `No item has the variant ${JSON.stringify(options.baseline)}.`, {
      hint: `The baseline is one of ${names.join(', ') || 'no variants: there are no items'}.`,
      details: { baseline: options.baseline },
    });
  const others = names.filter((name) => name !== first);
  const ordered = first === undefined ? [] : [first, ...others];
  return {
    baseline: others.length === 0 ? null : first!,
    variants: ordered.map((name) =>
      summarise(
        name,
        items.filter(({ variant }) => variant === name),
      ),
    ),
    comparisons: others.map((candidate) => compareVariants(items, { baseline: first!, candidate, ...bootstrap })),
    ...bootstrap,
  };
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { cleanText } from '../../../base/checks/values.ts';
import { timed } from '../../../base/common/timer.ts';
import type { Score } from '../store/types.ts';
import type { Scorer, ScorerInput, ScorerResult } from './scorer.ts';

/** Longer reasons and errors are cut: an eval keeps one for each scorer and item. */
const maxText = 4_000;

/**
 * What each scorer says of an answer, in the order of the scorers. They run beside each other. One that throws, takes
 * longer than its `timeoutMs` or returns anything but a score has a null score and an `error`; the others are
 * unaffected. With `expected.scorer`, only the scorer of that name runs.
 *
 * @param options with a `signal` that stops all of them
 *
 * @example
 * ```ts
 * import { builtInScorers, scoreAnswer } from 'lanefold/evals';
 *
 * const scores = await scoreAnswer(builtInScorers, {
 *   answer: 'Your refund of 20 € is on its way.',
 *   toolCalls: [],
 *   messages: [],
 *   expected: { contains: ['refund', '20 €'] },
 *   case: { id: 'case_1', dataset: 'refunds', tags: [], split: null, note: null },
 *   feedback: [],
 *   run: {
 *     ...{ threadId: 'support-42', id: 'run_1', agent: 'support', model: null, durationMs: null },
 *     ...{ inputTokens: null, outputTokens: null, costMicros: null },
 *   },
 * });
 * console.log(scores.filter(({ score }) => score !== null)); // [{ scorer: 'contains', score: 1, … }]
 * ```
 */
export async function scoreAnswer(
  scorers: readonly Scorer[],
  input: Omit<ScorerInput, 'signal'>,
  options: { signal?: AbortSignal } = {},
): Promise<Score[]> {
  const only = input.expected.scorer;
  const chosen = only === undefined ? scorers : scorers.filter(({ name }) => name === only);
  if (only !== undefined && chosen.length === 0)
    return [failure({ name: only, version: null }, 'There is no scorer with this name.')];
  const scores: Promise<Score>[] = [];
  for (const scorer of chosen) {
    // a scorer that blocks the thread must not delay the score of another
    if (scores.length > 0) await nextTurn();
    scores.push(scoreBy(scorer, input, options.signal));
  }
  return Promise.all(scores);
}

class Late extends Error {}

async function scoreBy(scorer: Scorer, input: Omit<ScorerInput, 'signal'>, outer?: AbortSignal): Promise<Score> {
  try {
    outer?.throwIfAborted();
    const score = (own: AbortSignal) => scorer.score({ ...input, signal: outer ? AbortSignal.any([outer, own]) : own });
    const late = () => new Late(`no score within ${scorer.timeoutMs} ms`);
    return read(scorer, await timed(score, { ms: scorer.timeoutMs, signal: outer, late }));
  } catch (error) {
    if (outer?.aborted) return failure(scorer, 'The scorer was stopped because scoring was cancelled.');
    if (error instanceof Late) return failure(scorer, `The scorer gave no score within ${scorer.timeoutMs} ms.`);
    return failure(scorer, `The scorer threw: ${messageOf(error)}`);
  }
}

function read(scorer: Scorer, result: ScorerResult): Score {
  const { score, reason = null } =
    typeof result === 'object' && result !== null ? result : { score: result as Exclude<ScorerResult, object> };
  if (reason !== null && typeof reason !== 'string')
    return failure(scorer, `The scorer returned a reason that is not a text but ${kindOf(reason)}.`);
  const value = typeof score === 'boolean' ? Number(score) : score;
  if (value !== null && typeof value !== 'number')
    return failure(scorer, `The scorer returned ${kindOf(score)}, not a number from 0 to 1, a boolean or null.`);
  if (value !== null && !(value >= 0 && value <= 1))
    return failure(scorer, `The scorer returned ${value}, which is not from 0 to 1.`);
  const { name, version } = scorer;
  // minus zero would be printed as -0
  return { scorer: name, version, score: value === 0 ? 0 : value, reason: reason && cut(reason), error: null };
}

const failure = ({ name, version }: Pick<Scorer, 'name' | 'version'>, error: string): Score => ({
  scorer: name,
  version,
  score: null,
  reason: null,
  error: cut(error),
});

const kindOf = (value: unknown): string =>
  value === undefined ? 'nothing' : Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;

const cut = (text: string): string => cleanText(text.length > maxText ? `${text.slice(0, maxText - 1)}…` : text);

/** A scorer may throw anything, even a value that cannot be turned into text. */
function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'a value that cannot be printed';
  }
}

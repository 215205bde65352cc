import type { Json } from '../../context/message.ts';
import { withoutFence } from '../../contracts/parse-answer.ts';
import { defineScorer } from './define-scorer.ts';
import { firstDifference } from './difference.ts';
import { maxDepth, parseJson } from '../../common/json.ts';

/** `expected.answer` as JSON, if it is an object or a list: numbers and words are compared as text. */
export const jsonScorer = defineScorer({
  name: 'json',
  version: '1',
  score: ({ answer, expected }) => {
    const wanted = expected.answer === undefined ? undefined : parseComposite(expected.answer);
    if (wanted === undefined) return null;
    const actual = parseComposite(withoutFence(answer));
    if (actual === undefined) return { score: false, reason: 'The answer is not a JSON object or list.' };
    const difference = firstDifference(actual, wanted, { extraKeys: false });
    return difference === null ? true : { score: false, reason: `${difference}.` };
  },
});

/** The JSON object or list that a text consists of; undefined for any other text. */
export function parseComposite(text: string): Json | undefined {
  try {
    const value = parseJson(text, maxDepth) as Json;
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

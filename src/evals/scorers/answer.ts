import { defineScorer } from './define-scorer.ts';
import { parseComposite } from './json.ts';
import { quote } from './quote.ts';
import { normaliseText } from './text.ts';

/** `expected.answer` as text. An expected JSON object or list is left to the scorer `json`. */
export const answerScorer = defineScorer({
  name: 'answer',
  version: '1',
  score: ({ answer, expected }) => {
    if (expected.answer === undefined || parseComposite(expected.answer) !== undefined) return null;
    const same = normaliseText(answer) === normaliseText(expected.answer);
    return same ? true : { score: false, reason: `Expected ${quote(expected.answer)}.` };
  },
});

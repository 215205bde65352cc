import { defineScorer } from './define-scorer.ts';
import { quote } from './quote.ts';
import { normaliseText } from './text.ts';

/** `expected.contains`: the share of the phrases that the answer contains. An empty list expects nothing. */
export const containsScorer = defineScorer({
  name: 'contains',
  version: '1',
  score: ({ answer, expected }) => {
    const phrases = expected.contains ?? [];
    if (phrases.length === 0) return null;
    const text = comparable(answer);
    const missing = phrases.filter((phrase) => !text.includes(comparable(phrase)));
    return {
      score: (phrases.length - missing.length) / phrases.length,
      reason: missing.length === 0 ? null : `Missing: ${missing.map(quote).join(', ')}.`,
    };
  },
});

const comparable = (text: string): string => normaliseText(text).toLowerCase();

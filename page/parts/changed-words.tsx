export type Words = (typeof import('./compare.ts'))['diffWordsWithSpace'];

interface ChangedWordsProps {
  before: string;
  after: string;
  words: Words;
  /** Which of the two texts to show; default: both in one, what is removed before what is added. */
  side?: 'before' | 'after';
}

/** A text that has changed, with its changes marked and long stretches without one shortened. */
export const ChangedWords = ({ before, after, words, side }: ChangedWordsProps) => (
  <div class="text">
    {words(before, after).map(({ value, added, removed }, index) => {
      if (added) return side === 'before' ? null : <ins key={index}>{value}</ins>;
      if (removed) return side === 'after' ? null : <del key={index}>{value}</del>;
      return shortened(value);
    })}
  </div>
);

/** Lines that stay on either side of a change. */
const linesKept = 4;

function shortened(text: string): string {
  const lines = text.split('\n');
  const left = lines.length - 2 * linesKept;
  if (left < 2) return text;
  return [...lines.slice(0, linesKept), `⋯ ${left} lines are the same ⋯`, ...lines.slice(-linesKept)].join('\n');
}

import { useState } from 'preact/hooks';

export type Words = (typeof import('./compare.ts'))['diffWordsWithSpace'];

interface ChangedWordsProps {
  before: string;
  after: string;
  words: Words;
  /** Which of the two texts to show; default: both in one, what is removed before what is added. */
  side?: 'before' | 'after';
  mono?: boolean;
}

/** A text that has changed, with its changes marked; a long stretch without one opens on demand. */
export const ChangedWords = ({ before, after, words, side, mono }: ChangedWordsProps) => (
  <div class={mono ? 'text mono' : 'text'}>
    {words(before, after).map(({ value, added, removed }, index, parts) => {
      if (added) return side === 'before' ? null : <ins key={index}>{value}</ins>;
      if (!removed) return <Unchanged key={index} text={value} />;
      if (side === 'after') return null;
      // or the last word removed and the first one added would read as one
      const gap = !side && parts[index + 1]?.added && !/\s$/.test(value) && ' ';
      return [<del key={index}>{value}</del>, gap];
    })}
  </div>
);

/** Lines that stay on either side of a change. */
const linesKept = 4;

function Unchanged({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const lines = text.split('\n');
  const left = lines.length - 2 * linesKept;
  if (left < 2 || all) return <>{text}</>;
  return (
    <>
      {lines.slice(0, linesKept).join('\n')}
      <button type="button" class="link" onClick={() => setAll(true)}>
        ⋯ {left} lines are the same ⋯
      </button>
      {lines.slice(-linesKept).join('\n')}
    </>
  );
}

import { get, v1 } from '../api/client.ts';
import type { AgentVersionDiff, Json } from '../api/types.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { Empty, Failure, Loading } from './basics.tsx';
import { useState } from 'preact/hooks';

/** What differs between two versions: each field before and after. */
export function VersionDiff({ agent, from, to }: { agent: string; from: string; to: string }) {
  const loaded = useLoaded<AgentVersionDiff>(
    (signal) => get(v1('agents', agent, 'versions', 'diff'), { from, to }, signal),
    [agent, from, to],
  );
  const changes = loaded.data?.data;
  return (
    <>
      <Failure error={loaded.error} />
      {!changes && !loaded.error && <Loading />}
      {changes?.length === 0 && <Empty>They are the same.</Empty>}
      {changes && changes.length > 0 && <Changes changes={changes} />}
    </>
  );
}

export interface FieldChange {
  path: string;
  /** Absent: it was added. */
  from?: Json;
  /** Absent: it was removed. */
  to?: Json;
}

/** Fields with what changed in them; of a long text the words. */
export function Changes({ changes }: { changes: FieldChange[] }) {
  const words = useLoaded<Words>(async () => (await import('./compare.ts')).diffWordsWithSpace, []);
  if (!words.data) return words.error ? <Failure error={words.error} /> : <Loading />;
  return (
    <dl class="changes">
      {changes.map(({ path, from, to }) => (
        <div key={path}>
          <dt class="mono">{path}</dt>
          <dd>
            {from === undefined ? (
              <>
                added: <ins class={`text ${fontOf(to!)}`}>{wordsOf(to!)}</ins>
              </>
            ) : to === undefined ? (
              <>
                removed: <del class={`text ${fontOf(from)}`}>{wordsOf(from)}</del>
              </>
            ) : isShort(from) && isShort(to) ? (
              <>
                <del class={fontOf(from)}>{wordsOf(from)}</del> → <ins class={fontOf(to)}>{wordsOf(to)}</ins>
              </>
            ) : (
              <ChangedWords
                before={wordsOf(from)}
                after={wordsOf(to)}
                words={words.data!}
                mono={typeof to !== 'string'}
              />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const wordsOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** JSON is set like code. */
const fontOf = (value: Json): string => (typeof value === 'string' ? '' : 'mono');

const shortChars = 60;
const isShort = (value: Json): boolean => wordsOf(value).length <= shortChars;

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

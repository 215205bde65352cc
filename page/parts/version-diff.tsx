import { get, v1 } from '../api/client.ts';
import type { AgentVersionDiff, Json } from '../api/types.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { Empty, Failure, Loading } from './basics.tsx';
import { ChangedWords, type Words } from './changed-words.tsx';

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

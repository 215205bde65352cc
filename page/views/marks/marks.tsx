import type { Mark, MarkCount } from '../../api/types.ts';
import { clip } from '../../parts/format.ts';
import { href } from '../../state/route.ts';
import { kinds, wordsOf, type Tone } from './words.ts';

const icons: Record<Tone, string> = { bad: '✕', warn: '▲', note: '●' };
const maxChars = 160;

/** A mark in words, linked to the place it refers to. */
function Badge({ kind, words, to }: { kind: string; words: string; to: string }) {
  const tone = kinds[kind]?.[0] ?? 'note';
  const shown = clip(words, maxChars);
  return (
    <a href={to} class={`tag badge ${tone}`} data-mark={kind} title={shown === words ? undefined : words}>
      <span aria-hidden="true">{icons[tone]}</span> {shown}
    </a>
  );
}

/** The marks of a list row with their counts; each links to its first place. */
export function CountedMarks({
  threadId,
  marks,
  known = [],
}: {
  threadId: string;
  marks: MarkCount[] | null | undefined;
  /** Kinds that the row shows anyway. */
  known?: (string | false)[];
}) {
  const shown = marks?.filter(({ kind }) => !known.includes(kind)) ?? [];
  if (shown.length === 0) return null;
  return (
    <span class="marks">
      {shown.map(({ kind, count, seq, run_id: runId, llm_call_id: callId }) => {
        const [, one, several] = kinds[kind] ?? ['note', kind, kind];
        const words = count > 1 ? `${count} ${several}` : /^tool|^run/.test(one) ? `1 ${one}` : one;
        const to = callId
          ? href('threads', threadId, 'calls', callId)
          : seq === null
            ? href('threads', threadId, 'runs', runId)
            : href('threads', threadId, { at: String(seq) });
        return <Badge key={kind} kind={kind} words={words} to={to} />;
      })}
    </span>
  );
}

/**
 * The marks of an entry or a run, equal ones combined with their count. Each links to its model call, or else to the
 * run.
 */
export function Marks({ threadId, marks = [] }: { threadId: string; marks: readonly Mark[] | undefined }) {
  if (marks.length === 0) return null;
  const badges = new Map<string, { kind: string; words: string; to: string; count: number }>();
  for (const mark of marks) {
    const words = wordsOf(mark);
    const to = mark.llm_call_id
      ? href('threads', threadId, 'calls', mark.llm_call_id)
      : href('threads', threadId, 'runs', mark.run_id);
    const same = badges.get(`${to} ${words}`);
    if (same) same.count += 1;
    else badges.set(`${to} ${words}`, { kind: mark.kind, words, to, count: 1 });
  }
  return (
    <div class="marks">
      {[...badges].map(([key, { kind, words, to, count }]) => (
        <Badge key={key} kind={kind} words={count > 1 ? `${words} (${count} times)` : words} to={to} />
      ))}
    </div>
  );
}

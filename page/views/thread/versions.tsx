import { useEffect, useRef } from 'preact/hooks';
import type { Entry, TreeMessage } from '../../api/types.ts';
import { branchOf, holds, pathOf } from '../../state/branches.ts';
import { href, setQuery } from '../../state/route.ts';
import type { ThreadState } from '../../state/thread.ts';

interface ArrowsProps {
  seq: number;
  state: ThreadState;
  branch: string;
}

/** The arrow that the reader used last; the message it leads to takes over the focus. */
let followed: { seq: number; back: boolean } | undefined;

/**
 * The place of a message among its versions, as of the displayed moment, with arrows to the others. They only look: the
 * thread stays as it is for everyone else, so they need no scope and do not wait for a run.
 */
export function Arrows({ seq, state, branch }: ArrowsProps) {
  const box = useRef<HTMLSpanElement>(null);
  const at = state.shownAt.value;
  const versions = (state.branches.versions.value.get(seq) ?? []).filter((one) => one.seq <= at);
  const place = versions.findIndex((one) => one.seq === seq);
  useEffect(() => {
    if (followed?.seq !== seq || versions.length < 2) return;
    const [back, on] = box.current!.querySelectorAll('button');
    const wanted = followed.back ? [back!, on!] : [on!, back!];
    followed = undefined;
    wanted.find(({ disabled }) => !disabled)?.focus({ preventScroll: true });
  }, [seq, versions.length]);
  if (versions.length < 2) return null;
  const lanes = state.branches.lanes.value;
  const show = (version: TreeMessage, back: boolean) => {
    followed = { seq: version.seq, back };
    setQuery({ lane: branchOf(lanes, version) });
  };
  // compared with the version before it; the first one with the second
  const other = branchOf(lanes, versions[place === 0 ? 1 : place - 1]!);
  const [left, right] = place === 0 ? [branch, other] : [other, branch];
  const arrow = (step: 1 | -1, label: string) => (
    <button
      type="button"
      class="small"
      aria-label={label}
      disabled={versions[place + step] === undefined}
      onClick={() => show(versions[place + step]!, step < 0)}
    >
      {step < 0 ? '‹' : '›'}
    </button>
  );
  return (
    <span class="versions" role="group" aria-label="Versions of this message" ref={box} data-stays>
      {arrow(-1, 'Previous version of this message')}
      <span class="num">
        <span aria-hidden="true">
          {place + 1}/{versions.length}
        </span>
        <span class="hidden">
          {place + 1} of {versions.length}
        </span>
      </span>
      {arrow(1, 'Next version of this message')}
      <a href={href('threads', state.id, 'compare', { left, right })}>Compare</a>
    </span>
  );
}

/** Begins a branch: with another question in place of this one, or with another answer. */
export function BranchButton({ entry, state }: { entry: Entry; state: ThreadState }) {
  // what was written into a run is no question
  if (entry.refs['kind'] !== undefined) return null;
  if (entry.role === 'user') {
    const edit = () => (state.draft.value = { of: entry, after: entry.seq - 1, text: textOf(entry) });
    return (
      <button type="button" class="link" aria-label={`Edit the question #${entry.seq}`} onClick={edit}>
        Edit
      </button>
    );
  }
  const question = questionOf(entry, state);
  if (!question) return null;
  const again = () => (state.draft.value = { of: entry, after: question.seq });
  return (
    <button type="button" class="link" aria-label={`Ask again for the answer #${entry.seq}`} onClick={again}>
      Ask again
    </button>
  );
}

/** The question that an answer ends; none for a message in the middle of a run. */
function questionOf(entry: Entry, state: ThreadState): Entry | undefined {
  const calls = entry.payload['tool_calls'];
  if (entry.role !== 'assistant' || entry.context_ref === null || (Array.isArray(calls) && calls.length > 0))
    return undefined;
  const path = pathOf(state.branches.lanes.value, entry.context_ref);
  return state.entries.value.findLast(
    (one) =>
      one.seq < entry.seq &&
      one.kind === 'ai_message' &&
      one.role === 'user' &&
      one.refs['kind'] === undefined &&
      holds(path, one),
  );
}

/** What a question says, without its files. */
function textOf({ payload: { content } }: Entry): string {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? (content as { type?: string; text?: string }[]) : [];
  return parts.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? text : [])).join('\n');
}

/** A question with another text, and the files that it had. */
export function edited({ payload: { content } }: Entry, text: string): unknown {
  const files = Array.isArray(content) ? (content as { type?: string }[]).filter(({ type }) => type !== 'text') : [];
  return files.length === 0 ? text : [{ type: 'text', text }, ...files];
}

import type { Entry, Mark } from '../../api/types.ts';
import { href } from '../../state/route.ts';
import type { ThreadState } from '../../state/thread.ts';
import { Marks } from './marks.tsx';

/** A run whose marks follow the last entry it wrote. */
export interface MarkedRun {
  runId: string;
  marks: Mark[];
  /** `seq` of that entry. -1: before all entries shown; Infinity: after all, because the run continues. */
  after: number;
}

/**
 * The runs with marks on the run itself, as of an entry. A run without entries is placed by the time at which it ended.
 */
export function markedRuns(
  state: ThreadState,
  ofRun: ReadonlyMap<string, Mark[]>,
  entries: readonly Entry[],
  lane: string,
): MarkedRun[] {
  const all = state.entries.value;
  const at = state.at.value;
  const last = new Map(all.map(({ run_id: runId, seq }) => [runId, seq]));
  const shown = new Set(entries.map(({ seq }) => seq));
  const runs = new Map(state.runs.value.map((run) => [run.id, run]));
  const startsHere = (all[0]?.seq ?? 0) === 0;
  return [...ofRun].flatMap(([runId, marks]) => {
    const wrote = last.get(runId);
    if (wrote !== undefined) return shown.has(wrote) ? [{ runId, marks, after: wrote }] : [];
    const run = runs.get(runId);
    if (!run || (lane !== '' && run.context_ref !== lane)) return [];
    const end = run.finished_at;
    if (end === null) return at === null ? [{ runId, marks, after: Infinity }] : [];
    // for an earlier moment, only the next entry shows whether the run had ended by then
    if (at !== null && at < state.head.value && !(end <= (all.find(({ seq }) => seq > at)?.at ?? ''))) return [];
    const after = entries.findLast((entry) => entry.at <= end)?.seq ?? (startsHere ? -1 : undefined);
    return after === undefined ? [] : [{ runId, marks, after }];
  });
}

export function RunCard({ state, run: { runId, marks } }: { state: ThreadState; run: MarkedRun }) {
  const agent = state.runs.value.find(({ id }) => id === runId)?.agent;
  return (
    <div class="mark run-mark">
      <a href={href('threads', state.id, 'runs', runId)}>Run{agent ? ` of ${agent}` : ''}</a>
      <Marks threadId={state.id} marks={marks} />
    </div>
  );
}

import type { Entry } from '../../api/types.ts';
import { Empty, Failure } from '../../parts/basics.tsx';
import { holds, pathOf } from '../../state/branches.ts';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { useMarks, type ThreadState } from '../../state/thread.ts';
import { markedRuns, RunCard, type MarkedRun } from '../marks/run-marks.tsx';
import { EntryCard, LiveCard } from './entry-card.tsx';

type Item =
  | { key: string; entry: Entry }
  | { key: string; run: MarkedRun }
  | { key: string; live: { text: string; thinking: string } };

/** The entries of a branch, or of all lanes, up to the displayed moment, followed by the answers being streamed. */
export function Conversation({ state, lane }: { state: ThreadState; lane: string }) {
  const at = state.shownAt.value;
  const path = lane === '' ? undefined : pathOf(state.branches.lanes.value, lane);
  const entries = state.entries.value.filter((entry) => entry.seq <= at && (!path || holds(path, entry)));
  const ofOthers = new Set(path && state.runs.value.flatMap(({ id, context_ref: of }) => (of === lane ? [] : id)));
  const streamed = [...state.answers.value].filter(([, { runId }]) => !ofOthers.has(runId));
  const live = state.at.value === null && !state.paused.value ? streamed : [];
  const { ofEntry, ofRun, error, ready } = useMarks(state);
  const marked = new Map<number, Item[]>();
  for (const run of markedRuns(state, ofRun, entries, lane))
    marked.set(run.after, [...(marked.get(run.after) ?? []), { key: `r${run.runId}`, run }]);
  const after = (seq: number) => marked.get(seq) ?? [];
  const items: Item[] = [
    ...after(-1),
    ...entries.flatMap((entry) => [{ key: `e${entry.seq}`, entry }, ...after(entry.seq)]),
    ...after(Infinity),
    ...live.map(([key, answer]) => ({ key, live: answer })),
  ];
  const first = state.entries.value[0]?.seq ?? 0;
  // marks that come after the entries would move them
  if (!ready) return <div class="pane" />;
  return (
    <>
      {first > 0 && (
        <button type="button" class="more" onClick={() => void state.showEarlier()}>
          Show entries before #{first}
        </button>
      )}
      <Failure error={error} />
      {items.length === 0 && <Empty>Nothing here yet. Ask something below.</Empty>}
      <VirtualList
        label="Conversation"
        items={items}
        keyOf={(item) => item.key}
        render={(item) =>
          'entry' in item ? (
            <EntryCard
              entry={item.entry}
              state={state}
              marks={ofEntry.get(item.entry.seq)}
              branch={lane || undefined}
              versions
            />
          ) : 'run' in item ? (
            <RunCard state={state} run={item.run} />
          ) : (
            <LiveCard answer={item.live} />
          )
        }
      />
    </>
  );
}

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, v1 } from '../api/client.ts';
import type { Mark, MarkList } from '../api/types.ts';
import { listedRuns, type ThreadState } from './thread.ts';

/** Runs per request. */
const most = 100;
/** Marks whose entries already show what happened. */
const told = new Set(['prompt_changed', 'context_replaced', 'compacted']);

/** The marks of the runs of a thread: at an entry, or at the run as a whole. */
export interface ThreadMarks {
  ofEntry: ReadonlyMap<number, Mark[]>;
  ofRun: ReadonlyMap<string, Mark[]>;
  /** Why the last read failed; the next change of the thread retries. */
  error: Error | undefined;
}

/** Reads the marks of the visible runs: once for ended runs, for others after every change of the thread. */
export function useMarks(state: ThreadState): ThreadMarks {
  const known = useSignal<ReadonlyMap<string, Mark[]>>(new Map());
  const ended = useSignal<ReadonlySet<string>>(new Set());
  const error = useSignal<Error | undefined>(undefined);
  const entries = state.entries.value;
  const unended = unendedRuns(state);
  const first = entries[0]?.at ?? '';
  // a run without entries is known only from the list of runs
  const recent = state.runs.value.filter(({ finished_at: at }) => at === null || at >= first);
  const inSight = new Set([...entries.flatMap(({ run_id: id }) => id ?? []), ...recent.map(({ id }) => id)]);
  const wanted = [...inSight].filter((id) => !ended.value.has(id));
  useEffect(() => {
    const left = new AbortController();
    const read = async () => {
      for (let from = 0; from < wanted.length; from += most) {
        const ids = wanted.slice(from, from + most);
        const path = v1('threads', state.id, 'marks');
        const { data } = await get<MarkList>(path, { run_ids: ids.join() }, left.signal);
        known.value = new Map([
          ...known.value,
          ...ids.map((id) => [id, data.filter((mark) => mark.run_id === id)] as const),
        ]);
        ended.value = new Set([...ended.value, ...ids.filter((id) => !unended.has(id))]);
      }
      error.value = undefined;
    };
    read().catch((caught: unknown) => {
      if (!left.signal.aborted) error.value = caught as Error;
    });
    return () => left.abort();
  }, [wanted.join(), state.thread.value?.event_rev]);
  const ofEntry = new Map<number, Mark[]>();
  const ofRun = new Map<string, Mark[]>();
  for (const [runId, marks] of known.value)
    for (const mark of inSight.has(runId) ? marks : [])
      if (told.has(mark.kind)) continue;
      else if (mark.seq === null) ofRun.set(runId, [...(ofRun.get(runId) ?? []), mark]);
      else ofEntry.set(mark.seq, [...(ofEntry.get(mark.seq) ?? []), mark]);
  return { ofEntry, ofRun, error: error.value };
}

/** Runs not known to have ended. An entry may arrive before its run is in the list. */
function unendedRuns(state: ThreadState): ReadonlySet<string> {
  const runs = new Set(state.runs.value.map(({ id }) => id));
  // the list has only the newest runs: an unlisted run with entries before the oldest of them has long ended
  const oldest = runs.size < listedRuns ? undefined : state.runs.value.at(-1)!.created_at;
  const open = state.runs.value.filter(({ finished_at: at }) => at === null).map(({ id }) => id);
  const unlisted = state.entries.value.flatMap(({ run_id: id, at }) =>
    id !== null && !runs.has(id) && (oldest === undefined || at >= oldest) ? id : [],
  );
  return new Set([...open, ...unlisted]);
}

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get } from '../api/client.ts';
import type { Page, Worker, WorkerList } from '../api/types.ts';

/** Data read from the API, with the latest error. */
export interface Loaded<T> {
  data: T | undefined;
  error: Error | undefined;
  reload: () => Promise<void>;
}

/** How long until the data is read again, in ms; undefined: it is not. May depend on the data. */
type Pause<T> = number | undefined | ((data: T | undefined) => number | undefined);

/**
 * Reads when the view opens and whenever `keys` change; with `everyMs`, also that long after the last such read was answered,
 * while the page is visible: a server that is slow gets no more requests than it answers. An answer never replaces that of a
 * later read.
 */
export function useLoaded<T>(
  read: (signal: AbortSignal) => Promise<T>,
  keys: unknown[],
  { everyMs }: { everyMs?: Pause<T> } = {},
): Loaded<T> {
  const data = useSignal<T | undefined>(undefined);
  const error = useSignal<Error | undefined>(undefined);
  const reads = useRef({ begun: 0, shown: 0 }).current;
  const load = async (signal: AbortSignal): Promise<void> => {
    const no = ++reads.begun;
    const show = (value: T | undefined, caught?: Error) => {
      if (signal.aborted || no < reads.shown) return;
      reads.shown = no;
      if (value !== undefined) data.value = value;
      error.value = caught;
    };
    await read(signal).then(show, (caught: Error) => show(undefined, caught));
  };
  useEffect(() => {
    const left = new AbortController();
    data.value = undefined;
    reads.shown = reads.begun;
    void load(left.signal);
    return () => left.abort();
  }, keys);
  const pauseMs = typeof everyMs === 'function' ? everyMs(data.value) : everyMs;
  useEffect(() => {
    if (pauseMs === undefined) return undefined;
    const left = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const wait = () => {
      timer = setTimeout(() => void again(), pauseMs);
    };
    const again = async () => {
      if (document.visibilityState === 'visible') await load(left.signal);
      if (!left.signal.aborted) wait();
    };
    wait();
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [...keys, pauseMs]);
  return { data: data.value, error: error.value, reload: () => load(new AbortController().signal) };
}

/** A list that loads more pages on demand and reloads its first page every `everyMs`. A new filter starts over. */
export function useList<Item extends { id: string }>(
  path: string,
  filter: Record<string, string | null>,
  everyMs: number | undefined,
) {
  const key = JSON.stringify(filter);
  const first = useLoaded<Page<Item>>((signal) => get(path, filter, signal), [key], { everyMs });
  const older = useSignal<Item[]>([]);
  const next = useSignal<string | null | undefined>(undefined);
  useEffect(() => {
    older.value = [];
    next.value = undefined;
  }, [key]);
  const after = next.value === undefined ? first.data?.next_after : next.value;
  const fresh = first.data?.data ?? [];
  const known = new Set(fresh.map(({ id }) => id));
  return {
    first,
    items: [...fresh, ...older.value.filter(({ id }) => !known.has(id))],
    /** Where the next page begins; null on the last one. */
    after,
    more: async (): Promise<void> => {
      const page = await get<Page<Item>>(path, { ...filter, after });
      older.value = [...older.value, ...page.data];
      next.value = page.next_after;
    },
  };
}

export const noneAlive = 'No worker is alive to take runs.';

/** Live workers and those that recently stopped or died; undefined for a key that may not see them. */
export const useWorkers = (): Worker[] | undefined =>
  useLoaded<WorkerList>((signal) => get('/v1/workers', {}, signal), [], { everyMs: 5_000 }).data?.data;

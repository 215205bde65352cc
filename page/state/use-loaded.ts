import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../api/client.ts';
import type { Page, Worker, WorkerList } from '../api/types.ts';

/** Data read from the API, with the latest error. */
export interface Loaded<T> {
  data: T | undefined;
  error: Error | undefined;
  reload: () => Promise<void>;
}

/** Reads when the view opens and whenever `keys` change; with `everyMs`, also repeatedly while the page is visible. */
export function useLoaded<T>(
  read: (signal: AbortSignal) => Promise<T>,
  keys: unknown[],
  { everyMs }: { everyMs?: number | undefined } = {},
): Loaded<T> {
  const data = useSignal<T | undefined>(undefined);
  const error = useSignal<Error | undefined>(undefined);
  const load = async (signal: AbortSignal): Promise<void> => {
    try {
      const value = await read(signal);
      if (signal.aborted) return;
      data.value = value;
      error.value = undefined;
    } catch (caught) {
      if (!signal.aborted) error.value = caught as Error;
    }
  };
  useEffect(() => {
    const left = new AbortController();
    data.value = undefined;
    void load(left.signal);
    return () => left.abort();
  }, keys);
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const left = new AbortController();
    const timer = setInterval(() => document.visibilityState === 'visible' && void load(left.signal), everyMs);
    return () => {
      left.abort();
      clearInterval(timer);
    };
  }, [...keys, everyMs]);
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

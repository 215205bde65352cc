import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../api/client.ts';
import type { Page } from '../api/types.ts';
import { useLoaded } from './use-loaded.ts';

/** A list that grows at its end on demand, while its first page is loaded again every `everyMs`. Another filter starts anew. */
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

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get } from '../api/client.ts';
import type { MarkCount, Page } from '../api/types.ts';
import { useLoaded } from './use-loaded.ts';

interface Listed {
  id: string;
  marks?: MarkCount[] | null;
}

/**
 * A list that loads more pages on demand and reloads its first page every `everyMs`. A new filter starts over. Marks
 * are the slowest part for the server, so they are reloaded only when something else has changed.
 */
export function useList<Item extends Listed>(
  path: string,
  filter: Record<string, string | null>,
  everyMs: number | undefined,
) {
  const key = JSON.stringify(filter);
  const marked = useRef<{ key: string; as: string; page: Page<Item> }>(undefined);
  const read = async (signal: AbortSignal): Promise<Page<Item>> => {
    const known = marked.current?.key === key ? marked.current : undefined;
    if (known && asOf(await get<Page<Item>>(path, filter, signal)) === known.as) return known.page;
    const page = await get<Page<Item>>(path, { ...filter, marks: 'true' }, signal);
    marked.current = { key, as: asOf(page), page };
    return page;
  };
  const first = useLoaded<Page<Item>>(read, [key], { everyMs });
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
      const page = await get<Page<Item>>(path, { ...filter, marks: 'true', after });
      older.value = [...older.value, ...page.data];
      next.value = page.next_after;
    },
  };
}

/** A page without its marks, to detect other changes. */
const asOf = <Item extends Listed>({ data, next_after }: Page<Item>): string =>
  JSON.stringify([data.map((item) => ({ ...item, marks: null })), next_after]);

import type { ListedEvalItem } from '../store/types.ts';

const limit = 1_000;

/** All items of an eval, read page by page. */
export async function allPages(
  read: (page: { after: number; limit: number }) => Promise<ListedEvalItem[]>,
): Promise<ListedEvalItem[]> {
  const items: ListedEvalItem[] = [];
  for (let more = true; more;) {
    const next = await read({ after: items.at(-1)?.no ?? 0, limit });
    items.push(...next);
    more = next.length === limit;
  }
  return items;
}

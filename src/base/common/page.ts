/**
 * A page of a list, made of up to `limit` + 1 items: the one too many tells that there are more. `nextAfter` is the cursor of the
 * last item of the page; null on the last page.
 */
export function pageOf<Item, Cursor>(
  found: readonly Item[],
  limit: number,
  cursorOf: (last: Item) => Cursor,
): { data: Item[]; nextAfter: Cursor | null } {
  const data = found.slice(0, limit);
  return { data, nextAfter: found.length > limit ? cursorOf(data.at(-1)!) : null };
}

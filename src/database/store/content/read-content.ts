import type { Database } from '../../postgres/pool.ts';

/** A range of a large text. `chars` and `offset` count code points. */
export interface ContentRange {
  id: string;
  /** Of the whole text. */
  chars: number;
  bytes: number;
  offset: number;
  text: string;
  /** Where to continue; null at the end. */
  nextOffset: number | null;
}

/** Reads `length` characters of a large text of the thread from `offset`; without a length, everything to the end. */
export async function readContent(
  db: Database,
  threadId: string,
  id: string,
  { offset = 0, length }: { offset?: number | undefined; length?: number | undefined } = {},
): Promise<ContentRange> {
  const [row] = await db.query<{ result: Omit<ContentRange, 'nextOffset'> & { next_offset?: number } }>(
    'read_content',
    'select lanefold.read_content($1, $2, $3, $4) as result',
    [threadId, id, offset, length ?? null],
  );
  const { next_offset: nextOffset = null, ...range } = row!.result;
  return { ...range, nextOffset };
}

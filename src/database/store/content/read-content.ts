import type { ContentRange } from '../log/types.ts';
import { call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';

/** Reads `length` characters of a large text of the thread from `offset`; without a length, everything to the end. */
export async function readContent(
  db: Database,
  threadId: string,
  id: string,
  { offset = 0, length }: { offset?: number | undefined; length?: number | undefined } = {},
): Promise<ContentRange> {
  const result = (await call(db.query, 'read_content', { threadId, id, offset, length: length ?? null })) as Omit<
    ContentRange,
    'nextOffset'
  > & { next_offset?: number };
  const { next_offset: nextOffset = null, ...range } = result;
  return { ...range, nextOffset };
}

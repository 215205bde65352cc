import { assertId } from '../../../base/checks/ids.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readContent as read, type ContentRange } from '../../../database/store/content/read-content.ts';
import { assertWhole } from '../../../base/checks/whole-number.ts';

export interface ReadContentOptions {
  /** Where to begin, in characters; default 0. */
  offset?: number;
  /** How many characters; default: all to the end. */
  length?: number;
}

/** See `Threads.readContent`. */
export async function readContent(
  db: Database,
  threadId: string,
  id: string,
  { offset, length }: ReadContentOptions = {},
): Promise<ContentRange> {
  assertId(threadId, 'The thread id');
  assertId(id, 'The content id');
  const maximum = 2 ** 31 - 2;
  assertWhole(offset, 'offset', { maximum });
  assertWhole(length, 'length', { minimum: 1, maximum });
  return read(db, threadId, id, { offset, length });
}

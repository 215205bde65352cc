import { shortenMessage, type LargeContent } from '../../../agent/context/large-content.ts';
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

/**
 * Shortens messages for the log. Returns them with their large texts, which the same call stores: they are the argument
 * `contents` of the database functions.
 */
export function outOfLine<M extends { content?: unknown; refs?: unknown }>(
  { settings }: Pick<Database, 'settings'>,
  messages: readonly M[],
): { messages: M[]; contents?: LargeContent[] } {
  const limit = settings.largeContentBytes;
  if (limit === undefined) return { messages: [...messages] };
  const shortened = messages.map((message) => shortenMessage(message, limit));
  const contents = shortened.flatMap((each) => each.contents);
  return {
    messages: shortened.map(({ message }) => message),
    ...(contents.length > 0 ? { contents } : {}),
  };
}

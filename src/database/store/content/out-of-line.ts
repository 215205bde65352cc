import { shortenMessage, type LargeContent } from '../../../agent/context/large-content.ts';
import type { Database } from '../../postgres/pool.ts';

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

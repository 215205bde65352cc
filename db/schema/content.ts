import { sql } from 'drizzle-orm';
import { check, index, integer, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, tenantId } from './columns.ts';

/**
 * Large texts, once per thread. The log has a shortened text and the id in `refs.contents` of the message. A fork has
 * rows without text, which name the thread that stores it; when that thread is erased, the text moves to its forks.
 */
export const content = lanefold.table(
  'content',
  {
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    /** `c_` and the first 32 hex digits of the SHA-256 of the text as UTF-8. */
    id: id('id').notNull(),
    /** In a fork: the thread that stores the text. */
    homeThreadId: id('home_thread_id'),
    chars: integer('chars').notNull(),
    bytes: integer('bytes').notNull(),
    createdAt: moment('created_at').notNull(),
    text: text('text'),
  },
  (t) => [
    primaryKey({ columns: [t.threadId, t.id] }),
    index('content_home')
      .on(t.homeThreadId)
      .where(sql`home_thread_id is not null`),
    check('content_somewhere', sql`(text is null) = (home_thread_id is not null)`),
  ],
);

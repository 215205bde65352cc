import type { Message } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';

/** A message that a model call was sent; `seq` is -1 for the prompt of a policy. */
export type SentRow = Record<keyof Message, unknown> & { seq: number; altered: 'transformer' | 'contract' | null };

/** What an answered model call was sent, cut as its policy cut it; without what the log does not have. */
export const readSent = (db: Database, threadId: string, callId: string): Promise<SentRow[]> =>
  db.query<SentRow>(
    'call_context',
    `select seq::float8, role, content, tool_calls, tool_call_id, name, thinking, reasoning_details, provider_metadata, altered
     from lanefold.call_context($1, $2) order by ordinal`,
    [threadId, callId],
  );

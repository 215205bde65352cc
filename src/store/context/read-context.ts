import type { ContextRow } from '../../context/fold.ts';
import type { Database } from '../../postgres/pool.ts';
import { head } from './head.ts';

/** The context of a lane as of an entry, or now. */
export const readContext = (
  db: Database,
  threadId: string,
  contextRef: string,
  atSeq?: number,
): Promise<ContextRow[]> =>
  db.query<ContextRow>(
    'lane_context_at',
    `select anchor_seq::float8, ordinal::int, seq::float8, role, content, tool_calls, tool_call_id, name, thinking,
       reasoning_details, provider_metadata, run_id, request_id, refs
     from lanefold.lane_context_at($1, $2, $3) order by ordinal`,
    [threadId, contextRef, atSeq ?? head],
  );

import type { Database } from '../../postgres/pool.ts';
import type { DiffRow } from './types.ts';
import { head } from './read-lanes.ts';

/** A lane of a thread as of an entry; default: as it is now. */
export interface LanePoint {
  threadId: string;
  contextRef: string;
  atSeq?: number | undefined;
}

export const contextDiff = (db: Database, a: LanePoint, b: LanePoint): Promise<DiffRow[]> =>
  db.query<DiffRow>(
    'context_diff',
    `select change, ordinal::float8, seq::float8, other_ordinal::float8, other_seq::float8, role, content, tool_calls,
       tool_call_id, name
     from lanefold.context_diff($1, $2, $3, $4, $5, $6)`,
    [a.threadId, a.contextRef, a.atSeq ?? head, b.threadId, b.contextRef, b.atSeq ?? head],
  );

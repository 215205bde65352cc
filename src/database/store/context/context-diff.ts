import type { Json } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { head } from './read-lanes.ts';

/** A lane of a thread as of an entry; default: as it is now. */
export interface LanePoint {
  threadId: string;
  contextRef: string;
  atSeq?: number | undefined;
}

/** A message of one of two contexts, or of both. */
export interface DiffRow {
  /** `removed`: only in the first context; `added`: only in the second. */
  change: 'same' | 'removed' | 'added';
  /** Position and entry in the first context, then in the second; null if the message is not in that one. */
  ordinal: number | null;
  seq: number | null;
  other_ordinal: number | null;
  other_seq: number | null;
  role: string;
  content: Json;
  tool_calls: Json;
  tool_call_id: string | null;
  name: string | null;
}

export const contextDiff = (db: Database, a: LanePoint, b: LanePoint): Promise<DiffRow[]> =>
  db.query<DiffRow>(
    'context_diff',
    `select change, ordinal::float8, seq::float8, other_ordinal::float8, other_seq::float8, role, content, tool_calls,
       tool_call_id, name
     from lanefold.context_diff($1, $2, $3, $4, $5, $6)`,
    [a.threadId, a.contextRef, a.atSeq ?? head, b.threadId, b.contextRef, b.atSeq ?? head],
  );

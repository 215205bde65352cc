import type { Database } from '../../postgres/pool.ts';
import { readRows } from '../rows.ts';
import type { Branch, TreeMessage } from './types.ts';

/** The lanes of a thread in the order in which they began. */
export const readBranches = (db: Database, threadId: string): Promise<Branch[]> =>
  readRows<Branch>(
    db,
    'branches',
    `select context_ref, parent_context_ref, branched_after_seq::float8, parent_seq::float8, root_context_ref, branch_seq::float8,
       shown, last_seq::float8, created_at
     from lanefold.lane_tree where thread_id = $1 order by created_at, branch_seq nulls first, context_ref`,
    [threadId],
  );

/** Messages of a thread as a tree, after an entry, in the order of the log. */
export const readTree = (db: Database, threadId: string, after: number, limit: number): Promise<TreeMessage[]> =>
  readRows<TreeMessage>(
    db,
    'message_tree',
    `select seq::float8, context_ref, role, run_id, parent_seq::float8, siblings, place
     from lanefold.message_tree where thread_id = $1 and seq > $2 order by seq limit $3`,
    [threadId, after, limit],
  );

import type { Json } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { readRows } from '../rows.ts';

/** A branch that is shown once its run begins, which waits for another one. */
export interface WaitingBranch {
  contextRef: string;
  runId: string;
  /** The message that its first one follows; null: none. */
  parentSeq: number | null;
  /** What its run asks; null: it answers the question before the branch again. */
  content: Json;
}

/** Of several, the last to be shown. */
export async function findWaitingBranch(db: Database, threadId: string): Promise<WaitingBranch | undefined> {
  const [branch] = await readRows<WaitingBranch>(
    db,
    'waiting_branch',
    `select r.context_ref, r.id as run_id, l.parent_seq::float8, r.input -> 'content' as content
     from lanefold._run r join lanefold._lane l on l.thread_id = $1 and l.context_ref = r.context_ref
     where r.thread_id = $1 and not r.active and r.finished_at is null and r.options ? 'shows'
     order by r.interrupts, r.created_at desc limit 1`,
    [threadId],
  );
  return branch;
}

import type { Database } from '../../postgres/pool.ts';
import { readRows } from '../rows.ts';

/** Where a branch begins. */
export interface Parent {
  parentRef: string;
  branchSeq: number;
  afterSeq: number;
  /** The message that its first one follows; null: none. */
  parentSeq: number | null;
}

/** Where the branches of a thread begin, by their lanes. */
export async function readParents(db: Database, threadId: string): Promise<Map<string, Parent>> {
  const rows = await readRows<Parent & { contextRef: string }>(
    db,
    'parents_of_branches',
    `select context_ref, parent_ref, branch_seq::float8, after_seq::float8, parent_seq::float8
     from lanefold._lane where thread_id = $1 and branch_seq is not null`,
    [threadId],
  );
  return new Map(rows.map(({ contextRef, ...parent }) => [contextRef, parent]));
}

/** Whether a lane shows the entry of another one: it is on the path of lanes that the lane has left. */
export function isShownOn(parents: ReadonlyMap<string, Parent>, lane: string, entry: Place): boolean {
  let upto = Number.POSITIVE_INFINITY;
  for (let at = lane; ;) {
    if (entry.contextRef === at && entry.seq <= upto) return true;
    const parent = parents.get(at);
    if (!parent) return false;
    upto = Math.min(upto, parent.afterSeq);
    at = parent.parentRef;
  }
}

export interface Place {
  seq: number;
  contextRef: string;
}

/** A question, as `message_tree` has it. */
export interface Question extends Place {
  parentSeq: number | null;
  runId: string | null;
}

const columns = 'seq::float8, context_ref, parent_seq::float8, run_id';

/** The questions that follow the same message as that of an entry, itself included, in the order of the log. */
export async function readVersions(db: Database, threadId: string, seq: number): Promise<Question[]> {
  const [question] = await readRows<Question>(
    db,
    'question_in_tree',
    `select ${columns} from lanefold.message_tree where thread_id = $1 and seq = $2 and role = 'user'`,
    [threadId, seq],
  );
  if (!question) return [];
  return readRows<Question>(
    db,
    'versions_of_question',
    `select ${columns} from lanefold.message_tree
     where thread_id = $1 and parent_seq is not distinct from $2::bigint and role = 'user' order by seq`,
    [threadId, question.parentSeq],
  );
}

/** The answers that follow a question. */
export const readAnswers = (db: Database, threadId: string, seq: number): Promise<Question[]> =>
  readRows<Question>(
    db,
    'answers_to_question',
    `select ${columns} from lanefold.message_tree
     where thread_id = $1 and parent_seq = $2 and role = 'assistant' order by seq`,
    [threadId, seq],
  );

/** The order in which the open runs of a lane are shown: the active one, then those that wait. */
const openRuns = {
  next: 'active desc, interrupts desc, created_at',
  last: 'active, interrupts, created_at desc',
};

/** A run that a lane has yet to show, or shows now: the next, or the last. */
export async function findOpenRun(
  db: Database,
  threadId: string,
  contextRef: string,
  which: keyof typeof openRuns,
): Promise<string | undefined> {
  const [run] = await db.query<{ id: string }>(
    `${which}_open_run_of_lane`,
    `select id from lanefold._run
     where thread_id = $1 and context_ref = $2 and (active or not active and finished_at is null)
     order by ${openRuns[which]} limit 1`,
    [threadId, contextRef],
  );
  return run?.id;
}

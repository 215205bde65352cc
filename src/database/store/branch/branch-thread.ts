import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { call } from '../call.ts';
import { noticed, repeatIfLost } from '../call-function.ts';
import { contextLimit } from '../rows.ts';
import { toStoredRequest, type EnqueuedRun } from '../run/enqueue-run.ts';
import type { QueuedRun } from '../run/queued-run.ts';

/** A branch as the database function takes it, without its run. */
export interface NewBranch {
  op_id: string;
  hash: string;
  after_seq: number;
  context_ref?: string | undefined;
  lane?: string | undefined;
  show?: boolean | undefined;
  busy?: 'reject' | 'wait' | 'interrupt' | undefined;
}

export interface MadeBranch {
  op_id: string;
  context_ref: string;
  seq: number;
  parent: { context_ref: string; after_seq: number; parent_seq: number | null };
  shown: boolean;
  duplicate: boolean;
  run?: EnqueuedRun;
  /** The run that became active when an interrupt without a run ended the one before. */
  promoted?: QueuedRun;
  /** The run that such an interrupt has ended: no worker held it. */
  ended?: string;
}

/** Makes a branch, and accepts a run on it if one is given, as `enqueue_run` takes it. */
export async function branchThread(
  db: Database,
  threadId: string,
  branch: NewBranch,
  run?: JsonObject,
): Promise<MadeBranch> {
  const claim = run?.['claim'] as JsonObject | undefined;
  const stored = run && toStoredRequest(db, run);
  let lost = false;
  const made = await repeatIfLost(async (repeated) => {
    lost = repeated;
    const request = stored && repeated && claim ? { ...stored, claim: { ...claim, repeated } } : stored;
    const p = { ...branch, ...(request && { run: request }), ...contextLimit(db) };
    return noticed(db, (await call(db.queryLocking, 'branch', { threadId, p })) as unknown as MadeBranch);
  });
  // with the same run, or after a lost answer, it is this very request
  const isThis = made.run ? made.run.run_id === run?.['run_id'] : lost;
  const duplicate = made.duplicate && !isThis;
  return { ...made, duplicate, ...(made.run && { run: { ...made.run, duplicate } }) };
}

/** A question of a thread: what the user message of an entry says. Undefined if the entry is none. */
export async function readQuestion(db: Database, threadId: string, seq: number): Promise<Json | undefined> {
  const [row] = await db.query<{ content: Json }>(
    'read_question',
    `select payload -> 'content' as content from lanefold._entry
     where thread_id = $1 and seq = $2 and kind = 'ai_message' and role = 'user'`,
    [threadId, seq],
  );
  return row?.content;
}

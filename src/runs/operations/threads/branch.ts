import type { ContentInput } from '../../../agent/models/accept-content.ts';
import type { ContentPart } from '../../../agent/context/message.ts';
import { assertId, newId, newRunId } from '../../../base/checks/ids.ts';
import { assertWhole } from '../../../base/checks/values.ts';
import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import { pageOf } from '../../../base/common/page.ts';
import { LanefoldError } from '../../../base/errors.ts';
import {
  branchThread,
  readQuestion,
  type MadeBranch,
  type NewBranch,
} from '../../../database/store/branch/branch-thread.ts';
import { findEndOfRun, findNewestRun } from '../../../database/store/branch/newest-run.ts';
import { readBranches, readTree } from '../../../database/store/branch/read-branches.ts';
import type { Branch, BranchReceipt, TreeMessage } from '../../../database/store/branch/types.ts';
import { readParents } from '../../../database/store/branch/shown-path.ts';
import { findRun } from '../../../database/store/log/read-conversation.ts';
import type { RunHandle, RunRef } from '../../../database/store/run/run.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import { briefly, dispatch } from '../../queue/relay.ts';
import type { EnqueueDeps, EnqueueOptions } from '../runs/enqueue-options.ts';
import { enqueueRequest, requestHash, type CheckedRequest, type EnqueueContext } from '../runs/enqueue-request.ts';
import { toRequest } from '../runs/to-request.ts';
import { BranchOptions as declared } from './declaration.ts';
import { findQuestion } from './ui-messages.ts';

type OfRun = Omit<
  EnqueueOptions,
  'agent' | 'input' | 'threadId' | 'contextRef' | 'requestId' | 'createThread' | 'busy'
>;

/** Where a thread branches, and the run on the branch. */
export interface BranchOptions<NAME extends string = string> extends OfRun {
  /** The last entry whose context the branch has; -1: none. Required without `messageId`. */
  afterSeq?: number;
  /**
   * Instead of `afterSeq`: a question as `threads.uiMessages` has it, or its answer. With `input`, the branch replaces the
   * question; without, it answers the question again. Needs `agent`.
   */
  messageId?: string;
  /**
   * The lane to leave; default: the lane that has the entry, or for a message the active lane. A branch has the messages of the
   * lanes it left, too.
   */
  contextRef?: string;
  /** Name of the new lane. Default: that of the other lane with a number, such as `default@2`. */
  lane?: string;
  /** Whether the branch becomes the active lane; default true. */
  show?: boolean;
  /** A second request with this id returns the same branch. It is also the request id of its run. Default: a new id. */
  opId?: string;
  /**
   * On a thread with an active run: `reject` (default); `wait` makes the branch, and shows it when its run begins, or without
   * a run when the active one has ended; `interrupt` cancels the active run.
   */
  busy?: 'reject' | 'wait' | 'interrupt';
  /** The agent of a run on the branch. Default: no run. */
  agent?: NAME;
  /** What the run is asked. Without it, the run answers the question of `messageId`, or that of `afterSeq`. */
  input?: ContentInput;
}

const keys = { ...declared.shape, traceparent: true } as unknown as KeysOf<BranchOptions>;

/** See `Threads.branch`. */
export async function branch(
  deps: EnqueueDeps,
  threadId: string,
  options: BranchOptions,
  by: Pick<EnqueueContext, 'caller' | 'from'> = {},
): Promise<BranchReceipt> {
  assertId(threadId, 'The thread id');
  refuseUnknownKeys('threads.branch', options, keys);
  const {
    afterSeq: _,
    messageId,
    contextRef,
    lane,
    show,
    opId = newId('branch'),
    busy,
    agent,
    input,
    ...ofRun
  } = options;
  assertId(opId, 'The op_id');
  for (const [name, id] of Object.entries({ contextRef, lane })) if (id !== undefined) assertId(id, `The ${name}`);
  const afterSeq = await placeOf(deps.db, threadId, options);
  const place = { context_ref: contextRef, lane, show };
  const where = { ...place, after_seq: afterSeq, busy };
  // a message has other versions later; the request that names it stays the same
  const asked = { ...place, ...(messageId === undefined ? { after_seq: afterSeq } : { message_id: messageId }) };
  if (agent === undefined) {
    const surplus = Object.keys({ ...ofRun, ...(input === undefined ? {} : { input }) })[0];
    if (surplus !== undefined) throw noRun(surplus);
    return branchAlone(deps, threadId, { ...where, op_id: opId, hash: requestHash(asked) });
  }
  const request = await toRequest(
    deps,
    {
      ...ofRun,
      agent,
      ...(input === undefined ? { input: await questionAt(deps.db, threadId, afterSeq), answers: true } : { input }),
      threadId,
      requestId: opId,
      runId: newRunId(),
    },
    by,
  );
  return branchWithRun(deps, { ...request, hash: requestHash({ ...asked, run: request.hash }) }, where, by);
}

/** The entry after which the thread branches. @throws LanefoldError `invalid_input` */
async function placeOf(
  db: Database,
  threadId: string,
  { afterSeq, messageId, contextRef, agent, input }: BranchOptions,
): Promise<number> {
  const refuse = (message: string, more: string, field: string): never => {
    throw new LanefoldError('invalid_input', message, { hint: `Nothing was written. ${more}`, details: { field } });
  };
  if (messageId === undefined) {
    const hint = 'Pass the seq of an entry, or -1 to begin empty.';
    assertWhole(afterSeq, 'afterSeq', { minimum: -1, hint });
    return afterSeq ?? refuse('Nothing says where the thread branches.', `${hint} Or pass messageId.`, 'afterSeq');
  }
  if (afterSeq !== undefined) refuse('afterSeq and messageId both say where.', 'Pass one of the two.', 'afterSeq');
  if (agent === undefined) refuse('A branch at a message has a run.', 'Name its agent, or pass afterSeq.', 'agent');
  const question = await findQuestion(db, threadId, messageId, contextRef);
  if (!question) {
    await readThread(db, threadId);
    const waits = 'A question can be edited and answered again once a worker has begun with it.';
    return refuse(`The conversation has no question ${messageId}.`, waits, 'messageId');
  }
  return input === undefined ? question.seq : (question.parentSeq ?? -1);
}

async function branchAlone(deps: EnqueueDeps, threadId: string, given: NewBranch): Promise<BranchReceipt> {
  const made = await branchThread(deps.db, threadId, given);
  const { promoted, ended } = made;
  // as for any other run that was cancelled before a worker took it
  if (promoted) await briefly(dispatch(deps.db, deps.queue, promoted));
  if (ended !== undefined) await deps.admission?.release(deps.db, { threadId, runId: ended });
  return toReceipt(made, null);
}

async function branchWithRun(
  deps: EnqueueDeps,
  request: CheckedRequest,
  where: Omit<NewBranch, 'op_id' | 'hash'>,
  { caller }: Pick<EnqueueContext, 'caller'>,
): Promise<BranchReceipt> {
  const { threadId, requestId: opId, hash } = request;
  let made: MadeBranch | undefined;
  const run = await enqueueRequest(
    deps,
    {
      ...request,
      busy: where.busy,
      createThread: false,
      async accept({ busy: _, create_thread: __, ...row }) {
        made = await branchThread(deps.db, threadId, { ...where, op_id: opId, hash }, row);
        return made.run ?? { run_id: request.id, status: 'cancelled', enqueue_no: 0, queue_shard: 0, duplicate: true };
      },
    },
    { caller },
  );
  return toReceipt(made!, made!.run ? run : null);
}

const toReceipt = (made: MadeBranch, run: RunHandle | null): BranchReceipt => ({
  opId: made.op_id,
  contextRef: made.context_ref,
  seq: made.seq,
  parent: {
    contextRef: made.parent.context_ref,
    afterSeq: made.parent.after_seq,
    parentSeq: made.parent.parent_seq,
  },
  shown: made.shown,
  duplicate: made.duplicate,
  run,
});

/** The question that a run is to answer again; its text lets the strategy be chosen. */
async function questionAt(db: Database, threadId: string, seq: number): Promise<string | ContentPart[]> {
  const content = await readQuestion(db, threadId, seq);
  if (typeof content === 'string' || Array.isArray(content)) return content as string | ContentPart[];
  await readThread(db, threadId);
  throw new LanefoldError(
    'invalid_input',
    `Entry ${seq} of thread ${threadId} is not a question that a run without input could answer.`,
    {
      hint: 'Nothing was written. Branch after the question, or pass input.',
      details: { field: 'afterSeq' },
    },
  );
}

const noRun = (field: string): LanefoldError =>
  new LanefoldError('invalid_input', `${field} is an option of a run, and the branch has none.`, {
    hint: 'Nothing was written. Name the agent of the run, or leave the option out.',
    details: { field },
  });

/** Where a conversation continues after a run. */
export interface PlaceOfRun extends RunRef {
  /** The lane of the run. */
  contextRef: string;
  ended: boolean;
  /** The last entry that the run left on its lane: what follows has the context after it. Null: it wrote no message. */
  seq: number | null;
  /** The conversation of the lane that is shown ends with this run. */
  isNewest: boolean;
}

/** See `Threads.placeOfRun`. */
export async function placeOfRun(
  db: Database,
  threadId: string,
  run: string,
  contextRef?: string,
): Promise<PlaceOfRun | undefined> {
  assertId(threadId, 'The thread id');
  assertId(run, 'The id of the run');
  if (contextRef !== undefined) assertId(contextRef, 'The contextRef');
  const found = await findRun(db, threadId, run, [run]);
  if (!found) return undefined;
  const { id, ended } = found;
  const shown = contextRef ?? (await readThread(db, threadId)).activeContextRef;
  const newest = await findNewestRun(db, threadId, shown, await readParents(db, threadId));
  const seq = await findEndOfRun(db, threadId, id, found.contextRef);
  return { threadId, id, contextRef: found.contextRef, ended, seq, isNewest: newest === id };
}

/** See `Threads.branches`. */
export async function branchesOf(db: Database, threadId: string): Promise<Branch[]> {
  assertId(threadId, 'The thread id');
  const found = await readBranches(db, threadId);
  // a thread without lanes is empty, or does not exist
  if (found.length === 0) await readThread(db, threadId);
  return found;
}

/** See `Threads.tree`. */
export async function treeOf(
  db: Database,
  threadId: string,
  { after = -1, limit = 100 }: { after?: number; limit?: number } = {},
): Promise<{ data: TreeMessage[]; nextAfter: number | null }> {
  assertId(threadId, 'The thread id');
  const found = await readTree(db, threadId, after, limit + 1);
  if (found.length === 0) await readThread(db, threadId);
  return pageOf(found, limit, ({ seq }) => seq);
}

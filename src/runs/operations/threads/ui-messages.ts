import { LanefoldError } from '../../../base/errors.ts';
import type { Json } from '../../../agent/context/message.ts';
import { assertId } from '../../../base/checks/ids.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import {
  findOpenRun,
  isShownOn,
  readAnswers,
  readParents,
  readVersions,
} from '../../../database/store/branch/shown-path.ts';
import { readQuestion } from '../../../database/store/branch/branch-thread.ts';
import { findWaitingBranch, type WaitingBranch } from '../../../database/store/branch/waiting-branch.ts';
import { readVersionsOn } from '../../../database/store/branch/read-versions.ts';
import { findRun, readConversation, readWaitingQuestions } from '../../../database/store/log/read-conversation.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import type { ListPage } from '../../../database/store/rows.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { toUiMessages } from '../../formats/ui-messages/history.ts';
import { requestIdsOf, type UiMessage } from '../../formats/ui-messages/message.ts';

/** The run of a message of a conversation. */
export interface RunOfMessage extends RunRef {
  /** It has ended: nothing is added to its answer. */
  ended: boolean;
}

/** The question of a message of a conversation. */
export interface QuestionOfMessage {
  seq: number;
  parentSeq: number | null;
  /** Text, or parts. */
  content: Json;
}

/** A page ends early, after a whole turn, once it has more bytes of messages than this. */
const pageBytes = 4 * 1024 * 1024;

/** The conversation of a lane. See `Threads.uiMessages`. */
export async function uiMessages(
  db: Database,
  threadId: string,
  { contextRef, after, limit = 50 }: { contextRef?: string; after?: string; limit?: number } = {},
): Promise<ListPage<UiMessage>> {
  assertId(threadId, 'The thread id');
  if (after !== undefined && !/^\d{1,15}$/.test(after)) {
    throw new LanefoldError('invalid_input', `${JSON.stringify(after).slice(0, 80)} is not a valid cursor.`, {
      hint: 'Pass the next_after of the previous page, unchanged.',
    });
  }
  const { activeContextRef } = await readThread(db, threadId);
  const lane = contextRef ?? activeContextRef;
  // read before the log: a question that moves into the log meanwhile is then in both, not in neither
  const waiting = after === undefined ? await readWaitingQuestions(db, threadId, lane) : [];
  const before = after === undefined ? Number.MAX_SAFE_INTEGER : Number(after);
  const parents = await readParents(db, threadId);
  const [page, versions] = await Promise.all([
    readConversation(db, threadId, lane, { before, limit, maxBytes: pageBytes }, parents),
    readVersionsOn(db, threadId, lane, parents),
  ]);
  return {
    data: toUiMessages(threadId, page, waiting, versions),
    nextAfter: page.nextBefore === null ? null : String(page.nextBefore),
  };
}

/** The run of a message. See `Threads.runOf`. */
export async function runOf(
  db: Database,
  threadId: string,
  messageId: string,
  contextRef?: string,
): Promise<RunOfMessage | undefined> {
  assertId(threadId, 'The thread id');
  assertId(messageId, 'The message id');
  if (contextRef !== undefined) assertId(contextRef, 'The contextRef');
  const found = await findRun(db, threadId, messageId, requestIdsOf(messageId));
  if (!found) return undefined;
  const other = found.id === messageId ? undefined : await otherAnswer(db, threadId, found.userSeq, contextRef);
  const { id, ended } = other === undefined || other === found.id ? found : (await findRun(db, threadId, other, []))!;
  return { threadId, id, ended };
}

/** The run that answers a question on a lane, by default the one that is shown, if the thread has branches. */
async function otherAnswer(
  db: Database,
  threadId: string,
  asked: number | null,
  contextRef: string | undefined,
): Promise<string | undefined> {
  if (asked === null) return undefined;
  const parents = await readParents(db, threadId);
  if (parents.size === 0) return undefined;
  const lane = contextRef ?? (await readThread(db, threadId)).activeContextRef;
  const versions = await readVersions(db, threadId, asked);
  const question = versions.findLast((version) => isShownOn(parents, lane, version));
  // a question of another branch has the answer that it has there, unless this one begins in its place
  if (!question && parents.get(lane)?.parentSeq !== versions[0]?.parentSeq) return undefined;
  const answers = question ? await readAnswers(db, threadId, question.seq) : [];
  const answer = answers.findLast((one) => isShownOn(parents, lane, one));
  return answer?.runId ?? (await findOpenRun(db, threadId, lane, 'next')) ?? question?.runId ?? undefined;
}

/** See `Threads.questionOf`. */
export async function questionOf(
  db: Database,
  threadId: string,
  messageId: string,
): Promise<QuestionOfMessage | undefined> {
  const found = await findQuestion(db, threadId, messageId);
  return found && { ...found, content: (await readQuestion(db, threadId, found.seq))! };
}

/** Where the question of a message is. @param contextRef the lane that has the version; default: the active one */
export async function findQuestion(
  db: Database,
  threadId: string,
  messageId: string,
  contextRef?: string,
): Promise<Omit<QuestionOfMessage, 'content'> | undefined> {
  assertId(threadId, 'The thread id');
  assertId(messageId, 'The message id');
  const imported = /^entry_(\d{1,15})$/.exec(messageId)?.[1];
  const asked =
    imported === undefined
      ? (await findRun(db, threadId, messageId, requestIdsOf(messageId)))?.userSeq
      : Number(imported);
  if (asked === undefined || asked === null) return undefined;
  const [{ activeContextRef }, parents, versions] = await Promise.all([
    readThread(db, threadId),
    readParents(db, threadId),
    readVersions(db, threadId, asked),
  ]);
  const lane = contextRef ?? activeContextRef;
  const shown = versions.findLast((version) => isShownOn(parents, lane, version));
  const question = shown ?? versions.find(({ seq }) => seq === asked);
  if (!question) return undefined;
  const { seq, parentSeq } = question;
  return { seq, parentSeq };
}

/** See `Threads.waitingBranch`. */
export function waitingBranch(db: Database, threadId: string): Promise<WaitingBranch | undefined> {
  assertId(threadId, 'The thread id');
  return findWaitingBranch(db, threadId);
}

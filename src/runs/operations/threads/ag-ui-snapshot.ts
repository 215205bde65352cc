import { toAgUiMessages, newestTurns, type AgUiQuestion } from '../../formats/ag-ui/history.ts';
import type { AgUiMessage } from '../../formats/ag-ui/event.ts';
import { assertId } from '../../../base/checks/ids.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readParents } from '../../../database/store/branch/shown-path.ts';
import { readConversation, readWaitingQuestions } from '../../../database/store/log/read-conversation.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import type { AgUiSnapshotOptions } from './types.ts';

/** A thread at one moment, as AG-UI's `MESSAGES_SNAPSHOT` and `STATE_SNAPSHOT` have it. */
export interface AgUiSnapshot {
  messages: AgUiMessage[];
  state: JsonObject;
  /** The user messages, with the runs that answer them. */
  questions: AgUiQuestion[];
  /** False: earlier messages are left out. */
  complete: boolean;
  /** The runs whose questions no worker has taken yet, in the order in which they start: their questions are the last messages. */
  waitingRuns: string[];
  /** The number of entries of the thread at that moment. */
  rev: number;
  /** The last event of the thread at that moment; -1: it has none. Follow the stream after it. */
  eventSeq: number;
  activeRunId: string | null;
}

/** At most this much is read for a snapshot. */
const mostTurns = 1_000;
const mostBytes = 2 * 1024 * 1024;

/** The conversation of a lane and the state. See `Threads.agUiSnapshot`. */
export async function agUiSnapshot(
  db: Database,
  threadId: string,
  { contextRef, before }: AgUiSnapshotOptions = {},
): Promise<AgUiSnapshot> {
  assertId(threadId, 'The thread id');
  const lane = contextRef ?? (await readThread(db, threadId)).activeContextRef;
  // read before the log: a question that moves into the log meanwhile is then in both, not in neither
  const waiting = before === undefined ? await readWaitingQuestions(db, threadId, lane) : [];
  // one row says how far log and trace go, and a commit moves both: so they are read as of one moment
  const { rev, eventRev, state, activeRunId } = await readThread(db, threadId);
  const range = { before: Math.min(before ?? rev, rev), limit: mostTurns, maxBytes: mostBytes };
  const { entries, nextBefore } = await readConversation(db, threadId, lane, range, await readParents(db, threadId));
  const all = toAgUiMessages(entries, waiting);
  const { messages, complete } = newestTurns(all.messages);
  return {
    messages,
    state,
    questions: all.questions,
    complete: complete && nextBefore === null,
    waitingRuns: all.waitingRuns,
    rev,
    eventSeq: eventRev - 1,
    activeRunId,
  };
}

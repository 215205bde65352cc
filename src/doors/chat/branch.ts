import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../agent/context/message.ts';
import { assertId } from '../../base/checks/ids.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { WaitingBranch } from '../../database/store/branch/waiting-branch.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import { toContentParts, toInput } from '../../runs/formats/ui-messages/message.ts';
import { invalidRequest } from '../../server/problem.ts';
import { noAgent } from '../session-route.ts';
import { lastMessage, type ChatGrant } from './request.ts';

/** A change of what was said, which a page asks for. */
export interface Change {
  /** The question whose answer is given again, or which is edited. */
  questionId: string;
  /** What it says from now on; undefined: the same. */
  edited: JsonObject | undefined;
  /** Repeating the request changes nothing. */
  key: string | undefined;
  /** `sendMessage()` without a message, which sends the last one again, asks for the same as an edit under the same id. */
  isAmbiguous: boolean;
}

/** What `regenerate` and `sendMessage` with a `messageId` ask for; undefined: the request has a new message. */
export function changeOf(body: JsonObject, header: string | null): Change | undefined {
  const { trigger, messageId } = body;
  const message = lastMessage(body);
  const regenerates = trigger === 'regenerate-message';
  if (!regenerates && (messageId === undefined || messageId === null)) return undefined;
  if (message['role'] !== 'user') throw invalidRequest([{ path: 'message.role', message: 'Must be user.' }]);
  const questionId = regenerates ? message['id'] : messageId;
  assertId(questionId, 'The id of the message');
  const { id } = message;
  // a page that gives its version an id of its own can ask for it again
  const own = !regenerates && typeof id === 'string' && id !== questionId ? id : undefined;
  return {
    questionId,
    edited: regenerates ? undefined : message,
    key: header ?? own,
    isAmbiguous: !regenerates && own === undefined,
  };
}

/**
 * What a change that is ambiguous means: the run that answers the question already, if the question says the same, or that the
 * message is new to the thread. Undefined: it is a change.
 */
export async function sentAgain(
  { threads }: TenantLibrary,
  threadId: string,
  { questionId, edited, isAmbiguous }: Change,
  waiting: WaitingBranch | undefined,
): Promise<{ runId: string } | 'new' | undefined> {
  if (!isAmbiguous) return undefined;
  const question = await threads.questionOf(threadId, questionId);
  if (!question) return 'new';
  const says = (content: Json) => isDeepStrictEqual(toInput(toContentParts(content)), toInput(edited!['parts']));
  // the version that waits for its run is not in the log
  if (waiting?.content && waiting.parentSeq === question.parentSeq && says(waiting.content)) return waiting;
  const run = says(question.content) ? await threads.runOf(threadId, questionId) : undefined;
  return run && { runId: run.id };
}

/** Accepts a branch and its run. Returns the id of the run. */
export async function branchFor(
  { threads }: TenantLibrary,
  { questionId, edited, key }: Change,
  { agent, threadId, run }: Omit<ChatGrant, 'agent'> & { agent: string | undefined },
): Promise<string> {
  if (agent === undefined) throw noAgent('chat', 'createChatHandler');
  const { contextRef: _, ...options } = run ?? {};
  const made = await threads.branch(threadId, {
    ...options,
    agent,
    messageId: questionId,
    ...omitUndefined({ opId: key, input: edited && toInput(edited['parts']) }),
  });
  return made.run!.id;
}

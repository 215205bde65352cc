import type { JsonObject } from '../../agent/context/message.ts';
import { assertId } from '../../base/checks/ids.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { RecordedThread } from '../../database/store/log/types.ts';
import type { TenantLibrary } from '../../features/library/library.ts';
import { toInput } from '../../runs/formats/ui-messages/message.ts';
import { invalidRequest } from '../../server/problem.ts';
import { noAgent } from '../session-route.ts';
import { lastMessage, type ChatGrant } from './request.ts';

/** A change of what was said, which a page asks for. */
interface Change {
  /** The question whose answer is given again, or which is edited. */
  questionId: string;
  /** What it says from now on; undefined: the same. */
  edited: JsonObject | undefined;
  /** Repeating the request changes nothing. */
  key: string | undefined;
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
  return { questionId, edited: regenerates ? undefined : message, key: header ?? own };
}

/** Accepts a branch and its run. Returns the id of the run. */
export async function branchFor(
  lanefold: TenantLibrary,
  thread: RecordedThread | undefined,
  { questionId, edited, key }: Change,
  { agent, run }: Omit<ChatGrant, 'agent'> & { agent: string | undefined },
): Promise<string> {
  if (agent === undefined) throw noAgent('chat', 'createChatHandler');
  const question = thread && (await lanefold.threads.questionOf(thread.id, questionId));
  if (!question) {
    throw new LanefoldError('invalid_input', `The chat has no question ${questionId}.`, {
      hint: 'Nothing was written. A question can be edited and answered again once a worker has begun with it.',
    });
  }
  const { contextRef: _, ...options } = run ?? {};
  const made = await lanefold.threads.branch(thread.id, {
    ...options,
    agent,
    ...(edited ? { afterSeq: question.parentSeq ?? -1, input: toInput(edited['parts']) } : { afterSeq: question.seq }),
    ...omitUndefined({ opId: key }),
  });
  return made.run!.id;
}

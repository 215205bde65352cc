import { assertGrant } from '../api/assert-grant.ts';
import type { EnqueueOptions } from '../library/runs/enqueue.ts';
import type { ChatRequest } from './request.ts';

/** A request's permission: everything a chat needs on one thread. */
export interface ChatGrant {
  /** The thread of the chat; created with the first message. */
  threadId: string;
  /** The thread must belong to this tenant, and is created for it. Default: no check. */
  tenantId?: string;
  /** Default: the `agent` of the handler. */
  agent?: string;
  /** Who decides on approvals, for the log. */
  by?: string;
  /** Further options of the runs, such as `busy`, `model` or `toolContext`. */
  run?: Omit<EnqueueOptions, 'agent' | 'input' | 'threadId' | 'createThread' | 'requestId'>;
}

/** A grant, or your own response, such as a redirect to a sign-in page; anything else is rejected with 403. */
export type ChatVerdict = ChatGrant | Response | null | undefined | false;

/** Calls the user's `authorize`, and rejects anything that is not a grant. @throws LanefoldError `forbidden` */
export async function readGrant(
  authorize: (request: Request, chat: ChatRequest) => ChatVerdict | Promise<ChatVerdict>,
  request: Request,
  chat: ChatRequest,
): Promise<ChatGrant | Response> {
  const verdict = await authorize(request, chat);
  if (verdict instanceof Response) return verdict;
  assertGrant(verdict, 'This chat is not yours, or you are not signed in.');
  return verdict as ChatGrant;
}

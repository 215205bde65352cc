import type { EnqueueOptions } from '../../runs/operations/runs/enqueue.ts';
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

/**
 * What `authorize` returns: a decision on the chat that a signed-in user asks for, which is read only then, or a verdict on
 * the request alone.
 */
export type ChatAuthorization = ChatVerdict | ((chat: ChatRequest) => ChatVerdict | Promise<ChatVerdict>);

export const notYourChat = 'This chat is not yours, or you are not signed in.';

import type { EnqueueOptions } from '../../runs/operations/runs/enqueue-options.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import { invalidRequest } from '../../server/problem.ts';
import { readJsonBody } from '../../server/read-json-body.ts';

/**
 * The action a chat page requests: an answer to a message or to approvals, the answer in progress, the history, a stop, or
 * another branch.
 */
export type ChatAction = 'send' | 'approve' | 'resume' | 'history' | 'stop' | 'show';

/** What the page of a signed-in user asks for. */
export interface ChatRequest {
  action: ChatAction;
  /** The `id` of `useChat`: chosen by the page, and not proof that it may use that chat. */
  chatId: string;
  /** The body of a POST, including fields that the page adds; empty otherwise. */
  body: JsonObject;
}

const bodyHint = 'Send only the last message; see prepareSendMessagesRequest in docs/build/chat.md.';

const actions: Record<string, ChatAction> = {
  'GET stream': 'resume',
  'GET messages': 'history',
  'POST stop': 'stop',
  'POST show': 'show',
};

/**
 * What the method and the end of the path ask for, wherever the handler is mounted; undefined: the body says it.
 *
 * @throws LanefoldError `method_not_allowed`, `not_found`
 */
export function actionOf({ method, url }: Request): ChatAction | undefined {
  if (method !== 'GET' && method !== 'POST')
    throw new LanefoldError('method_not_allowed', `${method.slice(0, 20)} is not allowed here.`, {
      hint: 'Use GET or POST.',
    });
  const action = actions[`${method} ${new URL(url).pathname.split('/').at(-1)}`];
  if (action !== undefined || method === 'POST') return action;
  throw new LanefoldError('not_found', 'The chat handler has no such path.', {
    hint: 'GET …/{chat id}/stream streams an answer again, and GET …/{chat id}/messages reads the conversation.',
  });
}

/** Reads the body of a request whose sender may ask. */
export async function readChatRequest(
  request: Request,
  action: ChatAction | undefined,
  maxBodyBytes: number,
): Promise<ChatRequest> {
  if (action) {
    const chatId = decoded(new URL(request.url).pathname.split('/').at(-2) ?? '');
    const body = request.method === 'POST' ? await readJsonBody(request, maxBodyBytes, bodyHint) : {};
    return { action, chatId, body };
  }
  const body = await readJsonBody(request, maxBodyBytes, bodyHint);
  if (typeof body['id'] !== 'string') throw invalidRequest([{ path: 'id', message: 'Must be the id of the chat.' }]);
  return { action: lastMessage(body)['role'] === 'assistant' ? 'approve' : 'send', chatId: body['id'], body };
}

/** The message a POST is about: `message`, or the last of `messages`. */
export function lastMessage({ message, messages }: JsonObject): JsonObject {
  const last = message ?? (Array.isArray(messages) ? messages.at(-1) : undefined);
  if (last !== null && typeof last === 'object' && !Array.isArray(last)) return last;
  throw invalidRequest([{ path: 'message', message: 'Must be a message, unless messages is a list of them.' }]);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidRequest([{ path: 'id', message: 'Must be percent-encoded in the URL.' }]);
  }
}

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

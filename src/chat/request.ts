import type { JsonObject } from '../context/message.ts';
import { LanefoldError } from '../errors.ts';
import { invalidJson, invalidRequest, unsupportedMediaType } from '../api/problem.ts';

/**
 * The action a chat page requests: an answer to a message or to approvals, the answer in progress, the history, or a
 * stop.
 */
export type ChatAction = 'send' | 'approve' | 'resume' | 'history' | 'stop';

/** A request of a chat page, not authorised yet. */
export interface ChatRequest {
  action: ChatAction;
  /** The `id` of `useChat`: chosen by the page, and not proof that it may use that chat. */
  chatId: string;
  /** The body of a POST, including fields that the page adds; empty otherwise. */
  body: JsonObject;
}

const actions: Record<string, ChatAction> = { 'GET stream': 'resume', 'GET messages': 'history', 'POST stop': 'stop' };

/** Reads the request by its method and the end of its path, wherever the handler is mounted. */
export async function readChatRequest(request: Request, maxBodyBytes: number): Promise<ChatRequest> {
  const { method } = request;
  const [chatId = '', last = ''] = new URL(request.url).pathname.split('/').slice(-2);
  if (method !== 'GET' && method !== 'POST')
    throw new LanefoldError('method_not_allowed', `${method.slice(0, 20)} is not allowed here.`, {
      hint: 'Use GET or POST.',
    });
  const action = actions[`${method} ${last}`];
  if (action)
    return { action, chatId: decoded(chatId), body: method === 'POST' ? await readBody(request, maxBodyBytes) : {} };
  if (method === 'GET') {
    throw new LanefoldError('not_found', 'The chat handler has no such path.', {
      hint: 'GET …/{chat id}/stream resumes an answer, and GET …/{chat id}/messages reads the conversation.',
    });
  }
  const body = await readBody(request, maxBodyBytes);
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

async function readBody(request: Request, maxBytes: number): Promise<JsonObject> {
  // other sites cannot send this type without a preflight request, which fails
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? '')) throw unsupportedMediaType();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      throw new LanefoldError('body_too_large', `The body is larger than ${maxBytes} bytes.`, {
        hint: 'Send only the last message; see prepareSendMessagesRequest in docs/chat.md.',
      });
    }
    chunks.push(chunk);
  }
  let body: unknown;
  try {
    body = JSON.parse(bytes === 0 ? '{}' : Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw invalidJson((error as Error).message);
  }
  if (body !== null && typeof body === 'object' && !Array.isArray(body)) return body as JsonObject;
  throw invalidRequest([{ path: '', message: 'Must be an object.' }]);
}

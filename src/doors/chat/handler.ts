import { admit } from '../../server/admit.ts';
import { logErrors, withSafePath } from '../../server/log-errors.ts';
import { invalidRequest, problemHeaders, toProblem } from '../../server/problem.ts';
import { defaultMaxBodyBytes } from '../../server/read-body.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { isLanefoldError, LanefoldError } from '../../base/errors.ts';
import { assertId } from '../../base/checks/ids.ts';
import type { Library, TenantLibrary } from '../../features/library/library.ts';
import { threadNotFound } from '../../database/store/missing.ts';
import type { Thread } from '../../database/store/log/read-thread.ts';
import { toInput } from '../../runs/formats/ui-messages/question.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { openAnswer } from './answer.ts';
import { decideApprovals } from './approvals.ts';
import { notYourChat, type ChatAuthorization, type ChatGrant } from './grant.ts';
import { actionOf, lastMessage, readChatRequest, type ChatRequest } from './request.ts';
import { uiResponse } from './sse.ts';

export interface ChatOptions {
  /** The agent that answers, unless the grant names another. */
  agent?: string;
  /**
   * Checks the session of the request, before its body is read. For a signed-in user, return a function: it gets what the
   * page asks for, and returns the thread that the request may use; without a `threadId`, the request is rejected. Treat
   * `chat.chatId` like any other untrusted input. The request's body is in `chat.body`.
   */
  authorize(request: Request): ChatAuthorization | Promise<ChatAuthorization>;
  /** Maximum size of a body, in bytes; default 4 MiB. */
  maxBodyBytes?: number;
  /** Called with the error behind a response of 500 or above; default: log it. Must not throw. */
  onError?: (error: unknown, request: { method: string; path: string }) => void;
}

/** A route handler for any framework that uses the web's `Request` and `Response`. */
export type ChatHandler = (request: Request) => Promise<Response>;

const optionKeys: KeysOf<ChatOptions> = { agent: true, authorize: true, maxBodyBytes: true, onError: true };

/**
 * A chat route for `useChat`, as `DefaultChatTransport` calls it: `POST …` sends a message or responses to approvals,
 * and streams the answer; `GET …/{chat id}/stream?after={message id}` streams the answer to that message again;
 * `GET …/{chat id}/messages` returns what was said; `POST …/{chat id}/stop` cancels the run.
 *
 * @throws LanefoldError `invalid_input` without `authorize`
 *
 * @example
 * ```ts
 * import { createLanefold, defineAgent } from 'lanefold';
 * import { createChatHandler } from 'lanefold/chat';
 *
 * const lanefold = await createLanefold({ agents: [defineAgent({ name: 'support', model: 'scripted:echo' })] });
 * const chat = createChatHandler(lanefold, {
 *   agent: 'support',
 *   // who is signed in: from your session
 *   authorize: (request) => {
 *     const user = request.headers.get('x-user');
 *     return user ? ({ chatId }) => ({ threadId: `chat:${user}:${chatId}`, by: user }) : null;
 *   },
 * });
 * export { chat as GET, chat as POST };
 * ```
 */
export function createChatHandler(lanefold: Library, options: ChatOptions): ChatHandler {
  refuseUnknownKeys('createChatHandler', options, optionKeys);
  const { authorize, maxBodyBytes = defaultMaxBodyBytes } = options;
  const onError = withSafePath(options.onError ?? logErrors(lanefold.log));
  if (typeof authorize !== 'function') {
    throw new LanefoldError(
      'invalid_input',
      'createChatHandler requires authorize, which decides who may use which thread.',
      {
        hint: 'Pass authorize: (request) => ({ chatId }) => ({ threadId }) for signed-in users, else null.',
      },
    );
  }
  return async (request) => {
    try {
      const action = actionOf(request);
      const read = () => readChatRequest(request, action, maxBodyBytes);
      const admitted = await admit<ChatRequest, ChatGrant>(await authorize(request), read, notYourChat);
      if (admitted instanceof Response) return admitted;
      const { asked, grant } = admitted;
      return await answer(lanefold, request, asked, { agent: options.agent, grant });
    } catch (error) {
      const problem = toProblem(error);
      if (problem.status >= 500) onError(error, { method: request.method, path: new URL(request.url).pathname });
      return new Response(JSON.stringify(problem), {
        status: problem.status,
        headers: problemHeaders(problem.status, error),
      });
    }
  };
}

async function answer(
  all: Library,
  request: Request,
  { action, body }: ChatRequest,
  { grant, agent }: { grant: ChatGrant; agent: string | undefined },
): Promise<Response> {
  const { threadId } = grant;
  // where the database enforces tenants, its policies then apply
  const lanefold = grant.tenantId === undefined ? all : all.forTenant(grant.tenantId);
  const thread = await findThread(lanefold, grant);
  const stream = async (runId: string, afterRound?: number) => {
    const left = new AbortController();
    const signal = AbortSignal.any([left.signal, request.signal]);
    const chunks = await openAnswer(lanefold, { threadId, id: runId }, { signal, afterRound });
    return uiResponse(chunks, () => left.abort());
  };
  switch (action) {
    case 'history': {
      const after = new URL(request.url).searchParams.get('after') ?? undefined;
      const options = after === undefined ? {} : { after };
      const page = thread ? await lanefold.threads.uiMessages(threadId, options) : { data: [], nextAfter: null };
      return json({ messages: page.data, next_after: page.nextAfter });
    }
    case 'resume': {
      const runId = thread && (await runToResume(lanefold, thread, new URL(request.url).searchParams.get('after')));
      return runId === undefined ? new Response(null, { status: 204 }) : stream(runId);
    }
    case 'stop': {
      if (!thread?.activeRunId) return json({ accepted: false });
      const { accepted } = await lanefold.runs.cancel({ threadId, id: thread.activeRunId });
      return json({ accepted });
    }
    case 'approve': {
      const message = lastMessage(body);
      if (!thread) throw threadNotFound(threadId);
      assertId(message['id'], 'The id of the message');
      const round = await decideApprovals(lanefold, { threadId, id: message['id'] }, message, grant.by);
      return stream(message['id'], round);
    }
    case 'send':
      return stream(await send(lanefold, thread, lastMessage(body), body, { ...grant, agent: grant.agent ?? agent }));
  }
}

/**
 * The run whose answer a page lacks: the one that answers the last message the page has whole, though it may have ended
 * since. A page that does not name that message gets the unfinished answer, because it may have every other.
 */
async function runToResume(
  lanefold: TenantLibrary,
  { id, activeRunId }: Thread,
  after: string | null,
): Promise<string | undefined> {
  if (!after) return activeRunId ?? undefined;
  const run = await lanefold.threads.runOf(id, after);
  const isWhole = run?.id === after && run.ended;
  return isWhole ? undefined : run?.id;
}

/** Accepts the run that answers a message, once for each message id. */
async function send(
  lanefold: TenantLibrary,
  thread: Thread | undefined,
  message: JsonObject,
  { trigger }: JsonObject,
  { threadId, tenantId, agent, run }: Omit<ChatGrant, 'agent'> & { agent: string | undefined },
): Promise<string> {
  if (trigger === 'regenerate-message') {
    throw new LanefoldError('invalid_input', 'An answer cannot be regenerated, because the log keeps what was said.', {
      hint: 'Send a new message.',
    });
  }
  if (message['role'] !== 'user') throw invalidRequest([{ path: 'message.role', message: 'Must be user.' }]);
  assertId(message['id'], 'The id of the message');
  if (agent === undefined) {
    throw new LanefoldError('unknown_agent', 'The chat has no agent.', {
      hint: 'Pass agent to createChatHandler, or return one from authorize.',
    });
  }
  const input = toInput(message['parts']);
  const enqueue = async (createThread: boolean) => {
    const options = { ...run, agent, input, threadId, createThread, requestId: message['id'] as string };
    return (await lanefold.runs.enqueue(options)).id;
  };
  if (thread || tenantId === undefined) return enqueue(true);
  try {
    // creates the thread only if its absence is all that prevents the run
    return await enqueue(false);
  } catch (error) {
    if (!isLanefoldError(error, 'thread_not_found')) throw error;
  }
  await lanefold.threads.create({ id: threadId, tenantId }).catch((error: unknown) => {
    // a concurrent first message may have created it
    if (!isLanefoldError(error, 'thread_exists')) throw error;
  });
  await findThread(lanefold, { threadId, tenantId });
  return enqueue(false);
}

/** The thread of a grant, if it exists already. @throws LanefoldError `thread_not_found` for one of another tenant */
async function findThread(lanefold: TenantLibrary, { threadId, tenantId }: ChatGrant): Promise<Thread | undefined> {
  const thread = await lanefold.threads.peek(threadId).catch((error: unknown) => {
    if (isLanefoldError(error, 'thread_not_found')) return undefined;
    throw error;
  });
  if (thread && tenantId !== undefined && thread.tenantId !== tenantId) throw threadNotFound(threadId);
  return thread;
}

const json = (value: object): Response => Response.json(value, { headers: { 'cache-control': 'no-store' } });

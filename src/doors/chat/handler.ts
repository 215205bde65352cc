import { invalidRequest } from '../../server/problem.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { assertId } from '../../base/checks/ids.ts';
import type { Library, TenantLibrary } from '../../features/library/library.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { WaitingBranch } from '../../database/store/branch/waiting-branch.ts';
import { threadNotFound } from '../../database/store/missing.ts';
import type { RecordedThread } from '../../database/store/log/types.ts';
import { toInput } from '../../runs/formats/ui-messages/message.ts';
import { type UiChunk } from '../../runs/formats/ui-messages/message.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { openAnswer, decideApprovals } from './answer.ts';
import {
  type ChatAuthorization,
  type ChatGrant,
  actionOf,
  lastMessage,
  readChatRequest,
  type ChatRequest,
} from './request.ts';
import { branchFor, changeOf, sentAgain } from './branch.ts';
import { createSessionRoute, enqueueGranted, findThread, noAgent } from '../session-route.ts';
import { sseResponse } from '../../base/common/sse-response.ts';
import { uiMessageHeader } from '../../runs/formats/ui-messages/answer.ts';

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
 * and streams the answer, on a branch for an edited message or an answer that is regenerated;
 * `GET …/{chat id}/stream?after={message id}` streams the answer to that message again; `GET …/{chat id}/messages` returns what was
 * said; `POST …/{chat id}/stop` cancels the run; `POST …/{chat id}/show` shows the branch of a `lane` of `metadata.versions`.
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
  return createSessionRoute<ChatRequest, ChatGrant>(lanefold, options, {
    name: 'createChatHandler',
    example: '({ chatId }) => ({ threadId })',
    refusal: 'This chat is not yours, or you are not signed in.',
    open(request, maxBodyBytes) {
      const action = actionOf(request);
      return () => readChatRequest(request, action, maxBodyBytes);
    },
    answer: (request, asked, grant) => answer(lanefold, request, asked, { agent: options.agent, grant }),
  });
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
  // what the page asked for last is what it shows, also while that waits
  const waiting = thread?.activeRunId ? await lanefold.threads.waitingBranch(threadId) : undefined;
  const stream = async (runId: string, afterRound?: number) => {
    const left = new AbortController();
    const signal = AbortSignal.any([left.signal, request.signal]);
    const chunks = await openAnswer(lanefold, { threadId, id: runId }, { signal, afterRound });
    return uiResponse(chunks, () => left.abort());
  };
  switch (action) {
    case 'history': {
      const after = new URL(request.url).searchParams.get('after') ?? undefined;
      const options = omitUndefined({ after, contextRef: waiting?.contextRef });
      const page = thread ? await lanefold.threads.uiMessages(threadId, options) : { data: [], nextAfter: null };
      return json({ messages: page.data, next_after: page.nextAfter });
    }
    case 'resume': {
      const after = new URL(request.url).searchParams.get('after');
      const runId = thread && (await runToResume(lanefold, thread, waiting, after));
      return runId === undefined ? new Response(null, { status: 204 }) : stream(runId);
    }
    case 'stop': {
      if (!thread?.activeRunId) return json({ accepted: false });
      const { accepted } = await lanefold.runs.cancel({ threadId, id: waiting?.runId ?? thread.activeRunId });
      return json({ accepted });
    }
    case 'show': {
      const { lane } = body;
      if (typeof lane !== 'string') throw invalidRequest([{ path: 'lane', message: 'Must be a lane of the chat.' }]);
      if (!thread) throw threadNotFound(threadId);
      const { status } = await lanefold.contexts.show(threadId, lane);
      return json({ status });
    }
    case 'approve': {
      const message = lastMessage(body);
      if (!thread) throw threadNotFound(threadId);
      assertId(message['id'], 'The id of the message');
      const round = await decideApprovals(lanefold, { threadId, id: message['id'] }, message, grant.by);
      return stream(message['id'], round);
    }
    case 'send': {
      const asking = { ...grant, agent: grant.agent ?? agent };
      const change = changeOf(body, request.headers.get('idempotency-key'));
      const again = change ? await sentAgain(lanefold, threadId, change, waiting) : 'new';
      if (again === 'new') return stream(await send(lanefold, thread, lastMessage(body), asking));
      return stream(again?.runId ?? (await branchFor(lanefold, change!, asking)));
    }
  }
}

/**
 * The run whose answer a page lacks: the one that answers the last message the page has whole, though it may have ended
 * since. A page that does not name that message gets the unfinished answer, because it may have every other.
 */
async function runToResume(
  lanefold: TenantLibrary,
  { id, activeRunId }: RecordedThread,
  waiting: WaitingBranch | undefined,
  after: string | null,
): Promise<string | undefined> {
  if (!after) return waiting?.runId ?? activeRunId ?? undefined;
  const run = await lanefold.threads.runOf(id, after, waiting?.contextRef);
  const isWhole = run?.id === after && run.ended;
  return isWhole ? undefined : run?.id;
}

/** Accepts the run that answers a message, once for each message id. */
async function send(
  lanefold: TenantLibrary,
  thread: RecordedThread | undefined,
  message: JsonObject,
  grant: Omit<ChatGrant, 'agent'> & { agent: string | undefined },
): Promise<string> {
  const { threadId, agent, run } = grant;
  if (message['role'] !== 'user') throw invalidRequest([{ path: 'message.role', message: 'Must be user.' }]);
  assertId(message['id'], 'The id of the message');
  if (agent === undefined) throw noAgent('chat', 'createChatHandler');
  const { id } = await enqueueGranted(lanefold, grant, thread, {
    ...run,
    agent,
    input: toInput(message['parts']),
    threadId,
    requestId: message['id'],
  });
  return id;
}

const json = (value: object): Response => Response.json(value, { headers: { 'cache-control': 'no-store' } });

/** The UI message stream as a response. If it breaks off, the client resumes. */
const uiResponse = (chunks: AsyncGenerator<UiChunk>, abort: () => void): Response =>
  sseResponse(toData(chunks), { abort, headers: { [uiMessageHeader[0]]: uiMessageHeader[1] } });

async function* toData(chunks: AsyncGenerator<UiChunk>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield JSON.stringify(chunk);
  yield '[DONE]';
}

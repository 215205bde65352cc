import type { EnqueueOptions } from '../../../runs/operations/runs/enqueue-options.ts';
import { readJsonBody } from '../../../server/read-json-body.ts';
import { invalidFields } from '../../../server/validation.ts';
import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import { sseResponse } from '../../../base/common/sse-response.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Library } from '../../../features/library/library.ts';
import type { AgUiEvent } from '../../../runs/formats/ag-ui/event.ts';
import { runAgentInput, type AgUiInput } from '../../../runs/formats/ag-ui/content.ts';
import { answerAgUi } from '../runs/answer.ts';
import type { Asked, AskedOnBranch, Busy } from '../runs/request.ts';
import { createSessionRoute, enqueueGranted, findThread, noAgent } from '../../session-route.ts';

export interface AgUiOptions {
  /** The agent that answers, unless the grant names another. */
  agent?: string;
  /**
   * Checks the session of the request, before its body is read. For a signed-in user, return a function: it gets what the
   * client asks for, and returns the thread that the request may use; without a `threadId`, the request is rejected. Treat
   * the client's `threadId` like any other untrusted input. `forwardedProps` is in `client.input`.
   */
  authorize(request: Request): AgUiAuthorization | Promise<AgUiAuthorization>;
  /**
   * What a question does while another run of the thread is active, unless the grant says it: `interrupt` (default)
   * cancels that run, as a client that has stopped reading it expects; `wait` asks after it; `reject` answers 409
   * `thread_busy`.
   */
  busy?: 'interrupt' | 'wait' | 'reject';
  /** Maximum size of a body, in bytes; default 4 MiB. */
  maxBodyBytes?: number;
  /** Called with the error behind a response of 500 or above, or behind a `RUN_ERROR`; default: log it. Must not throw. */
  onError?: (error: unknown, request: { method: string; path: string }) => void;
}

/** A route handler for any framework that uses the web's `Request` and `Response`. */
export type AgUiHandler = (request: Request) => Promise<Response>;

const optionKeys: KeysOf<AgUiOptions> = {
  agent: true,
  authorize: true,
  busy: true,
  maxBodyBytes: true,
  onError: true,
};

/**
 * A route for clients of AG-UI 1.0, such as `HttpAgent` of `@ag-ui/client`: `POST …` asks the new user message, answers
 * interrupts or follows the active run, and streams the events; `POST …/cancel` with `{ threadId }` cancels the run.
 *
 * @throws LanefoldError `invalid_input` without `authorize`
 *
 * @example
 * ```ts
 * import { createLanefold, defineAgent } from 'lanefold';
 * import { createAgUiHandler } from 'lanefold/ag-ui';
 *
 * const lanefold = await createLanefold({ agents: [defineAgent({ name: 'support', model: 'scripted:echo' })] });
 * const agUi = createAgUiHandler(lanefold, {
 *   agent: 'support',
 *   // who is signed in: from your session
 *   authorize: (request) => {
 *     const user = request.headers.get('x-user');
 *     return user ? ({ threadId }) => ({ threadId: `ag-ui:${user}:${threadId}`, by: user }) : null;
 *   },
 * });
 * export { agUi as POST };
 * ```
 */
export function createAgUiHandler(lanefold: Library, options: AgUiOptions): AgUiHandler {
  refuseUnknownKeys('createAgUiHandler', options, optionKeys);
  const { agent, busy = 'interrupt' } = options;
  return createSessionRoute<AgUiClientRequest, AgUiGrant>(lanefold, options, {
    name: 'createAgUiHandler',
    example: '({ threadId }) => ({ threadId })',
    refusal: 'This conversation is not yours, or you are not signed in.',
    open(request, maxBodyBytes) {
      assertPost(request);
      return () => readClientRequest(request, maxBodyBytes);
    },
    answer: (request, asked, granted, report) =>
      answer(lanefold, request, asked, { grant: { ...(agent ? { agent } : {}), ...granted }, busy, report }),
  });
}

const bodyHint = 'Raise maxBodyBytes, or send only the new message: the log has the others.';

function assertPost({ method }: Request): void {
  if (method === 'POST') return;
  throw new LanefoldError('method_not_allowed', `${method.slice(0, 20)} is not allowed here.`, { hint: 'Use POST.' });
}

async function readClientRequest(request: Request, maxBodyBytes: number): Promise<AgUiClientRequest> {
  const body = await readJsonBody(request, maxBodyBytes, bodyHint);
  const action = new URL(request.url).pathname.endsWith('/cancel') ? 'cancel' : 'run';
  const schema = action === 'cancel' ? runAgentInput.pick({ threadId: true }) : runAgentInput;
  const { success, data, error } = schema.safeParse(body);
  if (!success) throw invalidFields(error.issues);
  return { action, threadId: data.threadId, input: action === 'run' ? (data as unknown as AgUiInput) : undefined };
}

async function answer(
  all: Library,
  request: Request,
  { input }: AgUiClientRequest,
  { grant, busy, report }: { grant: AgUiGrant; busy: Busy; report: (error: unknown) => void },
): Promise<Response> {
  const { threadId, tenantId, agent, by } = grant;
  // where the database enforces tenants, its policies then apply
  const lanefold = tenantId === undefined ? all : all.forTenant(tenantId);
  const thread = await findThread(lanefold, grant);
  if (!input) {
    const id = thread?.activeRunId;
    const accepted = id ? (await lanefold.runs.cancel({ threadId, id })).accepted : false;
    return Response.json({ accepted }, { headers: { 'cache-control': 'no-store' } });
  }
  if (agent === undefined) throw noAgent('conversation', 'createAgUiHandler');
  const left = new AbortController();
  const asked = {
    agent,
    threadId,
    input,
    by,
    contextRef: grant.run?.contextRef,
    busy: grant.run?.busy ?? busy,
    enqueue: (options: Asked) => enqueueGranted(lanefold, grant, thread, { ...grant.run, ...options }),
    branch: (options: AskedOnBranch) => lanefold.threads.branch(threadId, { ...grant.run, ...options }),
    toolsOf: (name: string) =>
      all.agents
        .list()
        .find((known) => known.name === name)
        ?.tools.map((tool) => tool.name),
    assertMay: () => {},
    // as for every call of the library, the process that makes it is the operator's
    answering: () => lanefold,
  };
  const signal = AbortSignal.any([left.signal, request.signal]);
  const events = await answerAgUi(lanefold, asked, { signal, onError: report });
  return sseResponse(toData(events), { abort: () => left.abort() });
}

async function* toData(events: AsyncGenerator<AgUiEvent>): AsyncGenerator<string> {
  for await (const event of events) yield JSON.stringify(event);
}

/** What the client of a signed-in user asks for. */
export interface AgUiClientRequest {
  /** `run`: ask, answer interrupts, or follow the active run. `cancel`: cancel the active run. */
  action: 'run' | 'cancel';
  /** The client's name of the conversation: not proof that it may use it. */
  threadId: string;
  /** The body of `run`; undefined for `cancel`. */
  input: AgUiInput | undefined;
}

/** Permission for one thread: to ask, to answer every interrupt, and to cancel. */
export interface AgUiGrant {
  /** The thread of the conversation; created with the first message. */
  threadId: string;
  /** The thread must belong to this tenant, and is created for it. Default: no check. */
  tenantId?: string;
  /** Default: the `agent` of the handler. */
  agent?: string;
  /** Who answers interrupts, for the log. */
  by?: string;
  /** Further options of the runs, such as `busy`, `model` or `toolContext`. */
  run?: Omit<EnqueueOptions, 'agent' | 'input' | 'threadId' | 'createThread' | 'requestId' | 'extraRefs'>;
}

/** A grant, or your own response; anything else is rejected with 403. */
export type AgUiVerdict = AgUiGrant | Response | null | undefined | false;

/**
 * What `authorize` returns: a decision on the conversation that a signed-in user asks for, which is read only then, or a
 * verdict on the request alone.
 */
export type AgUiAuthorization = AgUiVerdict | ((client: AgUiClientRequest) => AgUiVerdict | Promise<AgUiVerdict>);

import { admit } from '../../../server/admit.ts';
import { logErrors, withSafePath } from '../../../server/log-errors.ts';
import { problemHeaders, toProblem } from '../../../server/problem.ts';
import { defaultMaxBodyBytes } from '../../../server/read-body.ts';
import { readJsonBody } from '../../../server/read-json-body.ts';
import { invalidFields } from '../../../server/validation.ts';
import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import { sseResponse } from '../../../base/common/sse-response.ts';
import { isLanefoldError, LanefoldError } from '../../../base/errors.ts';
import type { Library, TenantLibrary } from '../../../features/library/library.ts';
import type { EnqueueOptions } from '../../../runs/operations/runs/enqueue.ts';
import { threadNotFound } from '../../../database/store/missing.ts';
import type { Thread } from '../../../database/store/log/read-thread.ts';
import type { AgUiEvent } from '../../../runs/formats/ag-ui/event.ts';
import { runAgentInput, type AgUiInput } from '../../../runs/formats/ag-ui/input.ts';
import { answerAgUi } from '../runs/answer.ts';
import type { Busy } from '../runs/request.ts';
import { notYours, type AgUiAuthorization, type AgUiClientRequest, type AgUiGrant } from './grant.ts';

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
  ...{ agent: true, authorize: true, busy: true, maxBodyBytes: true, onError: true },
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
  const { authorize, maxBodyBytes = defaultMaxBodyBytes, agent, busy = 'interrupt' } = options;
  const onError = withSafePath(options.onError ?? logErrors(lanefold.log));
  if (typeof authorize !== 'function') {
    throw new LanefoldError(
      'invalid_input',
      'createAgUiHandler requires authorize, which decides who may use which thread.',
      { hint: 'Pass authorize: (request) => ({ threadId }) => ({ threadId }) for signed-in users, else null.' },
    );
  }
  return async (request) => {
    const report = (error: unknown) => onError(error, { method: request.method, path: new URL(request.url).pathname });
    try {
      assertPost(request);
      const read = () => readClientRequest(request, maxBodyBytes);
      const admitted = await admit<AgUiClientRequest, AgUiGrant>(await authorize(request), read, notYours);
      if (admitted instanceof Response) return admitted;
      const grant = { ...(agent ? { agent } : {}), ...admitted.grant };
      return await answer(lanefold, request, admitted.asked, { grant, busy, report });
    } catch (error) {
      const problem = toProblem(error);
      if (problem.status >= 500) report(error);
      return new Response(JSON.stringify(problem), {
        status: problem.status,
        headers: problemHeaders(problem.status, error),
      });
    }
  };
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
  if (agent === undefined) {
    throw new LanefoldError('unknown_agent', 'The conversation has no agent.', {
      hint: 'Pass agent to createAgUiHandler, or return one from authorize.',
    });
  }
  const left = new AbortController();
  const asked = {
    ...{ agent, threadId, input, by, contextRef: grant.run?.contextRef, busy: grant.run?.busy ?? busy },
    enqueue: async (options: EnqueueOptions) => {
      const run = { ...grant.run, ...options };
      if (thread || tenantId === undefined) return lanefold.runs.enqueue(run);
      try {
        // creates the thread only if its absence is all that prevents the run
        return await lanefold.runs.enqueue({ ...run, createThread: false });
      } catch (error) {
        if (!isLanefoldError(error, 'thread_not_found')) throw error;
      }
      await createThread(lanefold, { ...grant, tenantId });
      return lanefold.runs.enqueue({ ...run, createThread: false });
    },
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

async function createThread(
  lanefold: TenantLibrary,
  { threadId, tenantId }: AgUiGrant & { tenantId: string },
): Promise<void> {
  await lanefold.threads.create({ id: threadId, tenantId }).catch((error: unknown) => {
    // a concurrent first message may have created it
    if (!isLanefoldError(error, 'thread_exists')) throw error;
  });
  await findThread(lanefold, { threadId, tenantId });
}

/** The thread of a grant, if it exists already. @throws LanefoldError `thread_not_found` for one of another tenant */
async function findThread(lanefold: TenantLibrary, { threadId, tenantId }: AgUiGrant): Promise<Thread | undefined> {
  const thread = await lanefold.threads.peek(threadId).catch((error: unknown) => {
    if (isLanefoldError(error, 'thread_not_found')) return undefined;
    throw error;
  });
  if (thread && tenantId !== undefined && thread.tenantId !== tenantId) throw threadNotFound(threadId);
  return thread;
}

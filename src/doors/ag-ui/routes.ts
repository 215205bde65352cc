import type { EnqueueOptions } from '../../runs/operations/runs/enqueue-options.ts';
import { createRoute, z } from '@hono/zod-openapi';
import { runAgentInput, type AgUiInput } from '../../runs/formats/ag-ui/content.ts';
import type { Door } from '../../server/door.ts';
import type { Context } from 'hono';
import { may, operator, type Principal } from '../../base/access/principal.ts';
import type { AgUiRequest } from './runs/request.ts';
import { LanefoldError } from '../../base/errors.ts';
import { auditing } from '../../features/library/internals.ts';
import type { Library } from '../../features/library/library.ts';
import { withinRuns } from '../../server/access/limit-runs.ts';
import { callerOf } from '../../server/access/limited-parties.ts';
import { dropBody } from '../../server/body.ts';
import type { ApiApp, ApiEnv } from '../../server/env.ts';
import type { LiveStreams } from '../../server/live-streams.ts';
import { bodyProblems, problems } from '../../server/schemas/problem.ts';
import { Id } from '../../server/declared/wire-schema.ts';
import { sse } from '../../server/sse.ts';
import { body, security } from '../../server/routes/shared.ts';

// a schema that was made before Zod was extended has no `openapi`; its copy has
export const RunAgentInput = runAgentInput.clone().openapi('RunAgentInput', {
  description:
    '`RunAgentInput` of AG-UI 1.0, with its field names. Of `messages`, a new user message at the end is asked, and tool ' +
    'messages answer the tools that the client runs.',
  example: {
    threadId: 'support-42',
    runId: 'r-1',
    messages: [{ id: 'm-1', role: 'user', content: 'Where is my order?' }],
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
  },
});

const Busy = z
  .enum(['interrupt', 'wait', 'reject'])
  .optional()
  .openapi({
    description:
      'What a question does while another run of the thread is active: `interrupt` (default for keys and tokens with the ' +
      'scope `steer`, which it needs) cancels that run, `wait` asks after it, `reject` (default for others) fails with 409 ' +
      '`thread_busy`.',
  });

const runAgUi = createRoute({
  method: 'post',
  path: '/v1/ag-ui/{agent}',
  operationId: 'runAgUi',
  tags: ['Runs'],
  security,
  summary: 'Run an agent for a client of AG-UI',
  description:
    'Asks the new user message, answers interrupts, or follows the active run. Needs the scopes `run` and `read`; ' +
    'answering an approval also needs `approve`, and resolving a call that waits for an event, or cancelling the active ' +
    'run with a question, `steer`.',
  request: { params: z.object({ agent: Id }), query: z.object({ busy: Busy }), body: body(RunAgentInput) },
  responses: {
    200: {
      description: 'The events of AG-UI 1.0, each as JSON in one `data` line. Disconnecting does not cancel the run.',
      content: {
        'text/event-stream': {
          schema: z.string().openapi({
            example: 'data: {"type":"RUN_STARTED","threadId":"support-42","runId":"r-1","protocolVersion":"1.0"}\n\n',
          }),
        },
      },
    },
    ...problems(...bodyProblems, 404, 409, 410, 422),
  },
});

/** AG-UI over the HTTP API: one operation, which runs an agent. */
export const agUiDoor: Door = {
  access: { runAgUi: { scope: 'run', shows: true } },
  add: (app, { lanefold, streams }) => addAgUi(app, lanefold, streams),
};

function addAgUi(app: ApiApp, all: Library, streams: LiveStreams): void {
  app.openapi(runAgUi, async (c) => {
    // the stream shows the conversation
    assertScope(c.var.principal, 'read');
    const { answerAgUi } = await import('./runs/answer.ts');
    const { budget, onError, closing } = streams.limits;
    const on = { method: c.req.method, path: c.req.path };
    const report = (error: unknown) => onError(error, on);
    // only until the stream begins: no function that lives as long as the stream refers to the request
    const request = toRequest(c, app, all);
    dropBody(c);
    const live = streams.open(c);
    const opening = answerAgUi(c.var.lanefold, request, {
      signal: live.signal,
      ended: () => endOf(live, closing),
      onError: report,
    });
    opening.catch(live.end);
    const events = await opening;
    return sse(c, toMessages(events), { abort: live.end, budget, onError: report, onBusy: toBusy }) as never;
  });
}

type AgUiContext = Context<
  ApiEnv,
  string,
  { in: { json: unknown }; out: { param: { agent: string }; query: { busy?: AgUiRequest['busy'] }; json: unknown } }
>;

type Acting = Parameters<typeof auditing>[1][number];

function toRequest(c: AgUiContext, app: ApiApp, all: Library): AgUiRequest {
  const { agent } = c.req.valid('param');
  const { lanefold, principal } = c.var;
  const { busy = may(principal, 'steer') ? 'interrupt' : 'reject' } = c.req.valid('query');
  if (busy === 'interrupt') assertScope(principal, 'steer');
  const input = c.req.valid('json') as AgUiInput;
  const acting = (
    action: string,
    carriedOutBy: Acting['carriedOutBy'],
    runId?: string,
    detail?: Acting['action']['detail'],
  ) => {
    const { actor } = principal;
    return auditing(lanefold, [{ action: { actor, action, threadId: input.threadId, runId, detail }, carriedOutBy }]);
  };
  const asking = (carriedOutBy: Acting['carriedOutBy'], asked: { busy?: AgUiRequest['busy'] }, active?: string) =>
    asked.busy === 'interrupt' ? acting('runAgUi', carriedOutBy, active, { busy: 'interrupt' }) : lanefold;
  const by = { from: 'http' as const, ...callerOf(principal) };
  return {
    agent,
    threadId: input.threadId,
    input,
    by: principal === operator ? undefined : principal.actor,
    busy,
    enqueue: (options, active) =>
      withinRuns(c, app, () =>
        asking('enqueue_run', options, active).runs.enqueue({ ...options, ...contextOf(input) }, by),
      ),
    branch: (options, active) =>
      withinRuns(c, app, () =>
        asking('branch', options, active).threads.branch(input.threadId, { ...options, ...contextOf(input) }, by),
      ),
    toolsOf: (name) =>
      all.agents
        .list()
        .find((known) => known.name === name)
        ?.tools.map((tool) => tool.name),
    answering: (action, runId) => acting(action, action === 'resolveWait' ? 'end_wait' : 'decide_tool_call', runId),
    assertMay: (what) => (what === 'approve' ? assertScope(principal, 'approve') : assertMayResolve(principal)),
  };
}

async function* toMessages(events: AsyncIterable<object>) {
  for await (const event of events) yield { data: JSON.stringify(event) };
}

const toBusy = ({ code, message }: LanefoldError) => ({
  data: JSON.stringify({ type: 'RUN_ERROR', code, message: `${message} The run continues. Send the request again.` }),
});

/** Why a response ends before its run: the key no longer allows it, or the server closes. */
const endOf = (live: ReturnType<LiveStreams['open']>, closing: AbortSignal | undefined): LanefoldError | undefined =>
  live.refusal() ??
  (closing?.aborted
    ? new LanefoldError('lanefold_closed', 'The server stopped during the answer; the run continues.', {
        hint: 'Send the request again.',
      })
    : undefined);

/** What an application passes to the tools of the agent, which has to allow it. */
function contextOf({ forwardedProps: given }: AgUiInput): Pick<EnqueueOptions, 'toolContext'> {
  const empty = given === undefined || (typeof given === 'object' && Object.keys(Object(given)).length === 0);
  return empty ? {} : { toolContext: { forwarded_props: given } };
}

function assertScope(principal: Principal, scope: 'read' | 'approve' | 'steer'): void {
  if (!may(principal, scope)) throw forbidden(`it lacks the scope ${scope}`);
}

/** A browser token may send no events either. */
function assertMayResolve(principal: Principal): void {
  assertScope(principal, 'steer');
  if (principal.operations && !Object.hasOwn(principal.operations, 'resolveWait'))
    throw forbidden('a browser token may not answer for an event');
}

const forbidden = (why: string): LanefoldError =>
  new LanefoldError('forbidden', `The key or token of this request does not allow this: ${why}.`, {
    hint: 'Nothing was written. Use one that does; `lanefold keys list` shows what each key allows.',
  });

import { createRoute, z } from '@hono/zod-openapi';
import type { EnqueueOptions } from '../../runs/operations/runs/enqueue.ts';
import { isLanefoldError, type LanefoldError } from '../../base/errors.ts';
import type { ListedRun } from '../../runs/operations/runs/runs.ts';
import type { RunFilter } from '../../database/store/run/list-runs.ts';
import { camelKeys } from '../../base/common/case.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { withinRuns } from '../access/limit-runs.ts';
import { callerOf } from '../access/limited-parties.ts';
import type { ApiApp } from '../env.ts';
import type { AppOptions } from '../options.ts';
import { toJson } from '../json.ts';
import { assertSeesThreads } from '../access/require-unbound.ts';
import { runToJson, treeToJson } from '../run-json.ts';
import { RunTree } from '../schemas/wait.ts';
import { toProblem } from '../problem.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { RunPage, RunSnapshot, RunStatus } from '../schemas/run.ts';
import {
  BatchRun,
  CancelReceipt,
  CancelRun,
  NewRun,
  NewRuns,
  RunReceipt,
  RunReceipts,
} from '../schemas/run-request.ts';
import { forms } from '../schemas/run-overrides.ts';
import { afterCursor, flag, limit, moment, wholeText, word } from '../schemas/values.ts';
import { invalidFields } from '../validation.ts';
import {
  body,
  idempotencyKey,
  json,
  keyOf,
  orMissing,
  receiptHeaders,
  replayedHeader,
  run,
  security,
  thread,
} from './shared.ts';

const tags = ['Runs'];

const traceparent = {
  traceparent: z
    .string()
    .optional()
    .openapi({
      param: {
        description: 'W3C Trace Context: the first claim of the run continues this trace. Ignored if malformed.',
      },
      example: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    }),
};

const createRun = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/runs',
  operationId: 'createRun',
  tags,
  security,
  summary: 'Enqueue a run',
  description: 'Returns immediately; a worker executes the run. Read the run at `Location`.',
  request: { params: thread, headers: idempotencyKey.extend(traceparent), body: body(NewRun) },
  responses: {
    202: {
      ...json('The run was accepted.', RunReceipt),
      headers: replayedHeader.headers.extend({
        Location: z.string().openapi({ description: 'URL of the run.' }),
      }),
    },
    ...problems(...bodyProblems, 404, 409, 410, 422),
  },
});

const createRuns = createRoute({
  method: 'post',
  path: '/v1/runs',
  operationId: 'createRuns',
  tags,
  security,
  summary: 'Enqueue many runs',
  description:
    'Each run gets a separate answer: an invalid run does not affect the others. If the server fails on every run, the request fails. Under a limit on runs, all valid runs must fit, including those that repeat a request. Requires a key that is not bound to threads or agents.',
  request: { body: body(NewRuns) },
  responses: { 202: json('One answer per run, in order.', RunReceipts), ...problems(...bodyProblems) },
});

const runQuery = z.strictObject({
  status: RunStatus.optional(),
  agent: word('Runs of this agent.'),
  model: word('Runs with this model.'),
  error_type: word('Failed runs with this error type.'),
  min_tokens: wholeText(0, Number.MAX_SAFE_INTEGER, 'Runs that spent at least this many tokens.'),
  created_after: moment('Runs accepted at this time or later.'),
  created_before: moment('Runs accepted before this time.'),
  marks: flag('Count the marks of each run.'),
  after: afterCursor,
  limit: limit(50),
});

const toRunFilter = (query: z.infer<typeof runQuery>): Partial<RunFilter> =>
  omitUndefined({
    ...{ status: query.status, agent: query.agent, model: query.model, errorType: query.error_type },
    ...{ minTokens: query.min_tokens, createdAfter: query.created_after, createdBefore: query.created_before },
    ...{ marks: query.marks, after: query.after, limit: query.limit },
  });

const listRuns = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/runs',
  operationId: 'listRuns',
  tags,
  security,
  summary: 'List the runs of a thread, newest first',
  request: { params: thread, query: runQuery },
  responses: { 200: json('A page of runs.', RunPage), ...problems(404, 410) },
});

const listAllRuns = createRoute({
  method: 'get',
  path: '/v1/runs',
  operationId: 'listAllRuns',
  tags,
  security,
  summary: 'List the runs of all threads, newest first',
  request: { query: runQuery },
  responses: { 200: json('A page of runs.', RunPage), ...problems() },
});

const getRun = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/runs/{run_id}',
  operationId: 'getRun',
  tags,
  security,
  summary: 'Read a run: status, result, usage, tool calls',
  request: { params: run },
  responses: { 200: json('The run.', RunSnapshot), ...problems(404) },
});

const getTree = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/runs/{run_id}/tree',
  operationId: 'getTree',
  tags: ['Runs'],
  security,
  summary: 'Read the tree of runs that a run belongs to',
  description: 'The root, and the runs that tool calls have started, with their states, costs and waits.',
  request: { params: run },
  responses: { 200: json('The tree.', RunTree), ...problems(404, 410) },
});

const cancelRun = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/runs/{run_id}/cancel',
  operationId: 'cancelRun',
  tags,
  security,
  summary: 'Cancel a run; no effect if it has ended',
  request: { params: run, body: body(CancelRun) },
  responses: { 200: json('The current status.', CancelReceipt), ...problems(...bodyProblems, 404, 410) },
});

/** `onError` gets the server errors of single runs in a batch, whose response itself succeeds. */
export function addRuns(app: ApiApp, onError: NonNullable<AppOptions['onError']>): void {
  app.openapi(createRun, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const request = c.req.valid('json');
    const headers = c.req.valid('header');
    const requestId = keyOf(headers, 'request_id', request.request_id);
    const { traceparent } = headers;
    const options = { ...toOptions(request), threadId, ...omitUndefined({ requestId, traceparent }) } as EnqueueOptions;
    const { lanefold, principal } = c.var;
    const handle = await withinRuns(c, app, () =>
      lanefold.runs.enqueue(options, { from: 'http', ...callerOf(principal) }),
    );
    return c.json(toJson(handle), 202, receiptHeaders(handle));
  });

  app.openAPIRegistry.register('BatchRun', BatchRun);
  app.openapi(createRuns, async (c) => {
    const { lanefold, principal } = c.var;
    const { runs } = c.req.valid('json');
    const requests = runs.map(toRequest);
    const fitting = requests.filter((request): request is EnqueueOptions => !isLanefoldError(request));
    const accept = () => lanefold.runs.enqueueMany(fitting, { from: 'http', ...callerOf(principal) });
    const settled = await withinRuns(c, app, accept, fitting.length);
    const failures = settled.flatMap((one) => (isServerError(one) ? [one.reason as unknown] : []));
    if (failures.length > 0 && failures.length === requests.length) throw failures[0];
    const byCode = new Map(failures.map((error) => [toProblem(error).code, error]));
    for (const error of byCode.values()) onError(error, { method: c.req.method, path: c.req.path });
    const answers = settled.values();
    const data = requests.map((request) => {
      if (isLanefoldError(request)) return { problem: toProblem(request) };
      const answer = answers.next().value!;
      return answer.status === 'fulfilled' ? { run: toJson(answer.value) } : { problem: toProblem(answer.reason) };
    });
    return c.json({ data }, 202);
  });

  app.openapi(listRuns, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const { data, nextAfter } = await c.var.lanefold.runs.list({ threadId, ...toRunFilter(c.req.valid('query')) });
    return c.json(
      { data: (await orMissing(c.var.lanefold, threadId, data)).map(toListed), next_after: nextAfter },
      200,
    );
  });

  app.openapi(listAllRuns, async (c) => {
    const { data, nextAfter } = await c.var.lanefold.runs.list(toRunFilter(c.req.valid('query')));
    return c.json({ data: data.map(toListed), next_after: nextAfter }, 200);
  });

  app.openapi(getRun, async (c) => {
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const run = await c.var.lanefold.runs.get({ threadId, id });
    const costs = run.costByModel.map((cost) => ({
      ...toJson(cost),
      per_million: cost.perMillion && toJson(cost.perMillion),
    }));
    const worker = run.worker && toJson(run.worker);
    return c.json({ ...runToJson(run), cost_by_model: costs, tool_calls: run.toolCalls.map(toJson), worker }, 200);
  });

  app.openapi(getTree, async (c) => {
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const tree = await c.var.lanefold.runs.tree({ threadId, id });
    // its other runs have threads of their own
    if (tree.runs.length > 1) assertSeesThreads(c.var.principal, 'read');
    return c.json(treeToJson(tree), 200);
  });

  app.openapi(cancelRun, async (c) => {
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const receipt = await c.var.lanefold.runs.cancel({ threadId, id }, c.req.valid('json').reason);
    return c.json(toJson({ id, threadId, ...receipt }), 200);
  });
}

const toListed = (run: ListedRun) => ({ ...runToJson(run), marks: run.marks && run.marks.map(toJson) });

const isServerError = (answer: PromiseSettledResult<unknown>): answer is PromiseRejectedResult =>
  answer.status === 'rejected' && toProblem(answer.reason).status >= 500;

/** The options for a run of a batch, or the error that makes them invalid. */
function toRequest(given: unknown): EnqueueOptions | LanefoldError {
  const { success, data, error } = BatchRun.safeParse(given);
  if (!success) return invalidFields(error.issues as z.core.$ZodIssue[]);
  return { ...toOptions(data), ...omitUndefined({ threadId: data.thread_id, requestId: data.request_id }) };
}

/** The request as the library takes it. */
function toOptions(request: z.infer<typeof NewRun>): Omit<EnqueueOptions, 'threadId' | 'requestId'> {
  const { requestId: _, threadId: __, ...options } = camelKeys(omitUndefined(request));
  for (const name of Object.keys(forms)) {
    const form = options[name];
    if (typeof form === 'object' && form !== null) options[name] = camelKeys(form);
  }
  return options as unknown as EnqueueOptions;
}

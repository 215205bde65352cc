import { createRoute, z } from '@hono/zod-openapi';
import type { EnqueueOptions } from '../../library/enqueue.ts';
import type { Library } from '../../library/library.ts';
import { toCallSettings } from '../../models/settings/call-settings.ts';
import type { ModelSettings } from '../../models/settings/settings.ts';
import type { OutputContract, OutputOption } from '../../contracts/contract.ts';
import { toPolicyOption } from '../../policy/parse-policy.ts';
import type { ApiApp } from '../env.ts';
import { pageOf, toJson } from '../json.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { CancelReceipt, CancelRun, NewRun, RunPage, RunReceipt, RunSnapshot, RunStatus } from '../schemas/run.ts';
import type { Output } from '../schemas/run-overrides.ts';
import { Id, limit } from '../schemas/values.ts';
import {
  body,
  omitUndefined,
  idempotencyKey,
  json,
  keyOf,
  orMissing,
  replayed,
  replayedHeader,
  run,
  security,
  thread,
} from './shared.ts';

const tags = ['Runs'];

const createRun = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/runs',
  operationId: 'createRun',
  tags,
  security,
  summary: 'Accept a run',
  description: 'Returns immediately; a worker executes the run. Read the run at Location.',
  request: { params: thread, headers: idempotencyKey, body: body(NewRun) },
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

const listRuns = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/runs',
  operationId: 'listRuns',
  tags,
  security,
  summary: 'List the runs of a thread, newest first',
  request: {
    params: thread,
    query: z.strictObject({
      status: RunStatus.optional(),
      before: Id.optional().openapi({ param: { description: 'The last run of the previous page.' } }),
      limit: limit(50),
    }),
  },
  responses: { 200: json('A page of runs.', RunPage), ...problems(404, 410) },
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

const cancelRun = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/runs/{run_id}/cancel',
  operationId: 'cancelRun',
  tags,
  security,
  summary: 'Cancel a run; has no effect on a run that has ended',
  request: { params: run, body: body(CancelRun) },
  responses: { 200: json('The current status.', CancelReceipt), ...problems(...bodyProblems, 404, 410) },
});

export function addRuns(app: ApiApp, lanefold: Library): void {
  app.openapi(createRun, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const request = c.req.valid('json');
    const requestId = keyOf(c.req.valid('header'), 'request_id', request.request_id);
    const handle = await lanefold.runs.enqueue({
      ...toOptions(request),
      threadId,
      ...omitUndefined({ requestId }),
    } as EnqueueOptions);
    const location = { Location: `/v1/threads/${threadId}/runs/${handle.id}` };
    return c.json(toJson(handle), 202, { ...location, ...replayed(handle.duplicate) });
  });

  app.openapi(listRuns, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const { status, before, limit: most = 50 } = c.req.valid('query');
    const found = await lanefold.runs.list(threadId, omitUndefined({ status, before, limit: most + 1 }));
    const { data, next } = pageOf(await orMissing(lanefold, threadId, found), most, (item) => item.id);
    return c.json({ data, next_before: next }, 200);
  });

  app.openapi(getRun, async (c) => {
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const run = await lanefold.runs.get({ threadId, id });
    return c.json({ ...toJson(run), tool_calls: run.toolCalls.map(toJson) }, 200);
  });

  app.openapi(cancelRun, async (c) => {
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const receipt = await lanefold.runs.cancel({ threadId, id }, c.req.valid('json').reason);
    return c.json(toJson({ id, threadId, ...receipt }), 200);
  });
}

function toOutput(output: z.infer<typeof Output> | undefined): OutputOption | undefined {
  if (output === undefined || output === 'raw' || !('schema' in output)) return output;
  const { max_repairs: maxRepairs, ...contract } = output;
  return omitUndefined({ ...contract, maxRepairs }) as OutputContract;
}

const toOptions = (request: z.infer<typeof NewRun>): Omit<EnqueueOptions, 'threadId' | 'requestId'> =>
  omitUndefined({
    agent: request.agent,
    input: request.input,
    contextRef: request.context_ref,
    busy: request.busy,
    model: request.model,
    strategy: request.strategy,
    tools: request.tools,
    allowedTools: request.allowed_tools,
    settings: request.settings && toCallSettings(request.settings as ModelSettings),
    headers: request.headers,
    requestTransformer: request.request_transformer,
    contextPolicy: request.context_policy && toPolicyOption(request.context_policy),
    maxIterations: request.max_iterations,
    streaming: request.streaming,
    idleTimeoutMs: request.idle_timeout_ms,
    toolTimeoutMs: request.tool_timeout_ms,
    output: toOutput(request.output),
    toolContext: request.tool_context,
    onFailure: request.on_failure,
    extraRefs: request.extra_refs,
    createThread: request.create_thread,
  });

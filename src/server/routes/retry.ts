import { createRoute } from '@hono/zod-openapi';
import { omitUndefined } from '../../base/common/json.ts';
import { withinRuns } from '../access/limit-runs.ts';
import { callerOf } from '../access/limited-parties.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { RetryRun, RunReceipt } from '../schemas/run-request.ts';
import { body, idempotencyKey, json, keyOf, receiptHeaders, replayedHeader, run, security } from './shared.ts';

const retryRun = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/runs/{run_id}/retry',
  operationId: 'retryRun',
  tags: ['Runs'],
  security,
  summary: 'Ask an ended run’s question again on its own lane',
  description: 'Enqueues a new run of the same agent with the same input and options, on the lane as it is now.',
  request: { params: run, headers: idempotencyKey, body: body(RetryRun) },
  responses: {
    202: { ...json('The run was accepted.', RunReceipt), ...replayedHeader },
    ...problems(...bodyProblems, 404, 409, 410, 422),
  },
});

export function addRetry(app: ApiApp): void {
  app.openapi(retryRun, async (c) => {
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const { request_id: given, busy, fresh_children: freshChildren } = c.req.valid('json');
    const requestId = keyOf(c.req.valid('header'), 'request_id', given);
    const { lanefold, principal } = c.var;
    const handle = await withinRuns(c, app, () =>
      lanefold.runs.retry({ threadId, id }, omitUndefined({ requestId, busy, freshChildren }), callerOf(principal)),
    );
    return c.json(toJson(handle), 202, receiptHeaders(handle));
  });
}

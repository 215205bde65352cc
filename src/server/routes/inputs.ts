import { createRoute, z } from '@hono/zod-openapi';
import type { InputOptions } from '../../runs/operations/runs/inputs.ts';
import type { ContentInput } from '../../agent/models/accept-content.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { pageOf, toJson } from '../json.ts';
import { InputPage, InputReceipt, NewInput } from '../schemas/input.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { limit, wholeText } from '../schemas/values.ts';
import { body, idempotencyKey, json, keyOf, replayed, replayedHeader, run, security } from './shared.ts';

const tags = ['Runs'];

const inputRoute = <K extends 'steer' | 'inject'>(kind: K, summary: string) =>
  createRoute({
    method: 'post',
    path: `/v1/threads/{thread_id}/runs/{run_id}/${kind}`,
    operationId: `${kind}Run`,
    tags,
    security,
    summary,
    description:
      'Accepted input becomes a user message before the next model call; a run that was about to end continues with it instead.',
    request: { params: run, headers: idempotencyKey, body: body(NewInput) },
    responses: {
      202: { ...json('The run accepted the input.', InputReceipt), ...replayedHeader },
      ...problems(...bodyProblems, 404, 409, 410, 422),
    },
  });

const steerRun = inputRoute('steer', 'Send user input to an active run');
const injectRun = inputRoute('inject', 'Send input from a program to an active run');

const listInputs = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/runs/{run_id}/inputs',
  operationId: 'listInputs',
  tags,
  security,
  summary: 'List the inputs of a run and their status',
  request: {
    params: run,
    query: z.strictObject({
      after: wholeText(0, 2_147_483_647, 'Return inputs after this ordinal: the `next_after` of the previous page.'),
      limit: limit(100),
    }),
  },
  responses: { 200: json('A page of inputs.', InputPage), ...problems(404) },
});

export function addInputs(app: ApiApp): void {
  for (const [route, kind] of [
    [steerRun, 'steer'],
    [injectRun, 'inject'],
  ] as const) {
    app.openapi(route, async (c) => {
      const { thread_id: threadId, run_id: runId } = c.req.valid('param');
      const { content, role, source, ...request } = c.req.valid('json');
      const options = omitUndefined({
        inputId: keyOf(c.req.valid('header'), 'input_id', request.input_id),
        expectedRequestId: request.expected_request_id,
        extraRefs: request.extra_refs,
        runId,
        source,
        role,
      });
      const receipt = await c.var.lanefold.runs[kind](threadId, content as ContentInput, options as InputOptions);
      const { inputId, status, duplicate } = receipt;
      return c.json(toJson({ inputId, threadId, runId, status, duplicate }), 202, replayed(duplicate));
    });
  }

  app.openapi(listInputs, async (c) => {
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const { after, limit: most = 100 } = c.req.valid('query');
    const found = await c.var.lanefold.runs.inputs({ threadId, id }, omitUndefined({ after, limit: most + 1 }));
    if (found.length === 0) await c.var.lanefold.runs.get({ threadId, id });
    const { data, next } = pageOf(found, most, (input) => input.ordinal);
    return c.json({ data, next_after: next }, 200);
  });
}

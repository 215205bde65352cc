import { createRoute, z } from '@hono/zod-openapi';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { refToJson } from '../run-json.ts';
import { Call } from '../schemas/values.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { afterCursor, Id, limit } from '../schemas/values.ts';
import { Release, ReleasedWait, WaitPage } from '../schemas/wait.ts';
import { actedBy, body, json, run, security } from './shared.ts';

const list = createRoute({
  method: 'get',
  path: '/v1/waits',
  operationId: 'listWaits',
  tags: ['Waits'],
  security,
  summary: 'List the tool calls that wait for an event, a time or another run, oldest first',
  description: 'Calls that wait for approval are at `/v1/approvals`.',
  request: {
    query: z.strictObject({
      after: afterCursor,
      limit: limit(50),
      event: Id.optional().openapi({ param: { description: 'Only waits for this event.' } }),
      kind: z.enum(['event', 'time', 'run']).optional(),
    }),
  },
  responses: { 200: json('A page of waits.', WaitPage), ...problems() },
});

const release = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/runs/{run_id}/tool-calls/{call}/release',
  operationId: 'releaseWait',
  tags: ['Waits'],
  security,
  summary: 'Release a tool call that waits',
  description:
    'Gives the call a result, or an error, instead of what it waits for. A run that it waits for is cancelled. The run ' +
    'continues once none of its calls waits.',
  request: { params: run.extend({ call: Call }), body: body(Release) },
  responses: { 200: json('What became of the wait.', ReleasedWait), ...problems(...bodyProblems, 404, 410) },
});

export function addWaits(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { data, nextAfter } = await c.var.lanefold.waits.list(omitUndefined(c.req.valid('query')));
    return c.json(
      { data: data.map((wait) => ({ ...toJson(wait), run: refToJson(wait.run) })), next_after: nextAfter },
      200,
    ) as never;
  });

  app.openapi(release, async (c) => {
    const { thread_id: threadId, run_id: id, call } = c.req.valid('param');
    const { result, error, by: named } = c.req.valid('json');
    const by = actedBy(c.var.principal, named);
    const given = omitUndefined({ result, error, by }) as object;
    return c.json(await c.var.lanefold.waits.release({ threadId, id }, call, given), 200);
  });
}

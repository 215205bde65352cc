import { createRoute, z } from '@hono/zod-openapi';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { pageOf } from '../json.ts';
import { NodePage } from '../schemas/node.ts';
import { problems } from '../schemas/problem.ts';
import { limit, wholeText } from '../schemas/values.ts';
import { json, run, security } from './shared.ts';

const listNodes = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/runs/{run_id}/nodes',
  operationId: 'listNodes',
  tags: ['Runs'],
  security,
  summary: 'List the findings of a run’s strategy: its answers and thoughts',
  description: 'Empty for `react`, `cot` and `cod`, whose answers are in the log.',
  request: {
    params: run,
    query: z.strictObject({
      after: wholeText(0, 2_147_483_647, 'Return nodes after this one: the `next_after` of the previous page.'),
      limit: limit(100),
    }),
  },
  responses: { 200: json('A page of nodes.', NodePage), ...problems(404, 410) },
});

export function addNodes(app: ApiApp): void {
  app.openapi(listNodes, async (c) => {
    const { lanefold } = c.var;
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const { after, limit: most = 100 } = c.req.valid('query');
    const found = await lanefold.runs.nodes({ threadId, id }, { ...omitUndefined({ after }), limit: most + 1 });
    if (found.length === 0) await lanefold.runs.get({ threadId, id });
    const { data, next } = pageOf(found, most, ({ node }) => node);
    return c.json({ data, next_after: next }, 200);
  });
}

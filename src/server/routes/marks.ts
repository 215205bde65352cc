import { createRoute, z } from '@hono/zod-openapi';
import { idGrammar } from '../../base/checks/ids.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { MarkList } from '../schemas/mark.ts';
import { problems } from '../schemas/problem.ts';
import { json, security, thread } from './shared.ts';

const runIds = z
  .string()
  .max(13_000)
  .transform((text) => text.split(','))
  .pipe(z.array(z.string().regex(idGrammar, 'Not the id of a run.')).max(100))
  .openapi({
    param: { description: 'Comma-separated ids of at most 100 runs of the thread.' },
    type: 'string',
  });

const listMarks = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/marks',
  operationId: 'listMarks',
  tags: ['Runs'],
  security,
  summary: 'List the marks of some runs of a thread: what is worth a look',
  description:
    'Failed and retried tools, retried model calls, cuts, missed caches, overridden models, steering, changed prompts, ' +
    'compactions and others, each with its entry and model call.',
  request: { params: thread, query: z.strictObject({ run_ids: runIds }) },
  responses: { 200: json('The marks, in the order of the log.', MarkList), ...problems(404, 410) },
});

export function addMarks(app: ApiApp): void {
  app.openapi(listMarks, async (c) => {
    const { run_ids: ids } = c.req.valid('query');
    const marks = await c.var.lanefold.threads.marks(c.req.valid('param').thread_id, ids);
    return c.json({ data: marks.map(toJson) }, 200);
  });
}

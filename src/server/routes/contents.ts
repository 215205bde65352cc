import { createRoute, z } from '@hono/zod-openapi';
import type { ApiApp } from '../env.ts';
import { ContentRange } from '../schemas/content.ts';
import { problems } from '../schemas/problem.ts';
import { Id, wholeText } from '../schemas/values.ts';
import { json, security, thread } from './shared.ts';

const defaultLength = 65_536;
const largestLength = 1_048_576;

const readContent = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/contents/{content_id}',
  operationId: 'readContent',
  tags: ['Entries'],
  security,
  summary: 'Read a text that a message shows only in part',
  description:
    'A message lists the texts it shortens in `refs.contents`. To read on, pass `next_offset` as `offset`, until it is null.',
  request: {
    params: thread.extend({ content_id: Id }),
    query: z.strictObject({
      offset: wholeText(0, 2 ** 31 - 2, 'Where to begin, in characters. Default 0.'),
      length: wholeText(1, largestLength, `How many characters to read. Default ${defaultLength}.`),
    }),
  },
  responses: { 200: json('A part of the text.', ContentRange), ...problems(404, 410) },
});

export function addContents(app: ApiApp): void {
  app.openapi(readContent, async (c) => {
    const { thread_id: threadId, content_id: id } = c.req.valid('param');
    const { offset = 0, length = defaultLength } = c.req.valid('query');
    const { nextOffset, ...range } = await c.var.lanefold.threads.readContent(threadId, id, { offset, length });
    return c.json({ ...range, next_offset: nextOffset }, 200);
  });
}

import { createRoute, z } from '@hono/zod-openapi';
import { eventQuery, eventsAnswer, lastEventId } from '../../runs/operations/runs/declaration.ts';
import { toWire } from '../../base/operations/wire.ts';
import { querySchema, textSchema, wireSchema } from '../declared/wire-schema.ts';
import type { ApiApp } from '../env.ts';
import { type EventQuery, follow, formatOf, pageOfEvents } from '../handlers/events.ts';
import { problems } from '../schemas/problem.ts';
import type { ServeStream } from '../serve-stream.ts';
import { orMissing, security, thread } from './shared.ts';

const { schema, description, content, also } = eventsAnswer;

const listThreadEvents = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/events',
  operationId: 'listThreadEvents',
  tags: ['Events'],
  security,
  summary: 'Read the trace of all runs of a thread, or follow it live',
  request: {
    params: thread,
    headers: z.object({ 'Last-Event-ID': textSchema(lastEventId) }),
    query: querySchema(eventQuery),
  },
  responses: {
    200: { description, content: { 'application/json': { schema: wireSchema(schema) }, ...content } },
    ...also,
    ...problems(404, 410),
  },
});

export function addEvents(app: ApiApp, serve: ServeStream): void {
  app.openapi(listThreadEvents, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const query = c.req.valid('query') as EventQuery;
    const format = formatOf(c, query);
    if (format !== 'json') return follow(serve, c, { format, threadId, query }) as never;
    const page = await pageOfEvents(query, (paged) => c.var.lanefold.threads.events(threadId, paged));
    await orMissing(c.var.lanefold, threadId, page.data);
    return c.json(toWire(schema, page), 200) as never;
  });
}

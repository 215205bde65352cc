import { createRoute, z } from '@hono/zod-openapi';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { toTreeMessages } from '../event-messages.ts';
import { problems } from '../schemas/problem.ts';
import { trueOrFalse } from '../schemas/values.ts';
import type { ServeStream } from '../serve-stream.ts';
import { run, security } from './shared.ts';

const cursor = z.string().max(60_000).optional();

const streamTree = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/runs/{run_id}/tree/events',
  operationId: 'streamTree',
  tags: ['Events'],
  security,
  summary: 'Follow a run, and the runs that its tool calls start, live',
  description: 'A key that is limited to threads or agents cannot follow a tree, because any agent may be in it.',
  request: {
    params: run,
    headers: z.object({
      'Last-Event-ID': cursor.openapi({
        param: { description: 'Resumes after this message. Browsers send it by themselves.' },
      }),
    }),
    query: z.strictObject({
      after: cursor.openapi({ param: { description: 'Resumes after the message with this `id`.' } }),
      deltas: trueOrFalse('Answers while they are generated; default true.'),
      entries: trueOrFalse('Add `entry` to each event about an entry, with the payload of that entry.'),
    }),
  },
  responses: {
    200: {
      description:
        'Server-sent events as in the stream of a run, each with the `thread_id` and `run_id` of its run. The events of a run ' +
        'come in order. The `id` of an event resumes the whole stream after it. The stream ends once all runs have ended.',
      content: {
        'text/event-stream': {
          schema: z.string().openapi({ example: 'event: llm_started\nid: W1sidGhyZWFkXzE\ndata: {"event_seq":1}\n\n' }),
        },
      },
    },
    204: { description: 'The stream has ended: do not reconnect.' },
    ...problems(404, 410),
  },
});

export function addTreeEvents(app: ApiApp, serve: ServeStream): void {
  app.openapi(streamTree, async (c) => {
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const { after, deltas, entries } = c.req.valid('query');
    const lastId = c.req.header('last-event-id') || after;
    return (await serve(c, async (signal) => {
      const options = { deltas: deltas !== 'false', entries: entries === 'true', signal };
      const { items, over } = await c.var.lanefold.streams.openTree(
        { threadId, id },
        { ...options, ...omitUndefined({ after: lastId }) },
      );
      return { over, messages: (why) => toTreeMessages(items, why) };
    })) as never;
  });
}

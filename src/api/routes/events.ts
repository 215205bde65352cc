import { createRoute, z } from '@hono/zod-openapi';
import type { Client } from '../../client/client.ts';
import type { ApiApp } from '../env.ts';
import { pageOf } from '../json.ts';
import { problems } from '../schemas/problem.ts';
import { RunEventPage, ThreadEventPage } from '../schemas/run.ts';
import { afterSeq, limit } from '../schemas/values.ts';
import { given, json, orMissing, run, security, thread } from './shared.ts';

const tags = ['Events'];

const listRunEvents = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/runs/{run_id}/events',
  operationId: 'listRunEvents',
  tags,
  security,
  summary: 'Read the trace of a run, in order of its own seq',
  request: { params: run, query: z.strictObject({ after_seq: afterSeq('events'), limit: limit(100) }) },
  responses: { 200: json('A page of events.', RunEventPage), ...problems(404) },
});

const listThreadEvents = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/events',
  operationId: 'listThreadEvents',
  tags,
  security,
  summary: 'Read the trace of all runs of a thread, in order of event_seq',
  request: { params: thread, query: z.strictObject({ after_event_seq: afterSeq('events'), limit: limit(100) }) },
  responses: { 200: json('A page of events.', ThreadEventPage), ...problems(404, 410) },
});

export function addEvents(app: ApiApp, lanefold: Client): void {
  app.openapi(listRunEvents, async (c) => {
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const { after_seq: after, limit: most = 100 } = c.req.valid('query');
    const found = await lanefold.runs.events({ threadId, id }, given({ afterSeq: after, limit: most + 1 }));
    if (found.length === 0) await lanefold.runs.get({ threadId, id });
    const { data, next } = pageOf(found, most, (event) => event.seq);
    return c.json({ data, next_after_seq: next }, 200);
  });

  app.openapi(listThreadEvents, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const { after_event_seq: after, limit: most = 100 } = c.req.valid('query');
    const found = await lanefold.threads.events(threadId, given({ afterEventSeq: after, limit: most + 1 }));
    const { data, next } = pageOf(await orMissing(lanefold, threadId, found), most, (event) => event.eventSeq);
    return c.json({ data, next_after_event_seq: next }, 200);
  });
}

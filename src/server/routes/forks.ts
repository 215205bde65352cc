import { createRoute, z } from '@hono/zod-openapi';
import { newThreadId } from '../../base/checks/ids.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { ContextDiff } from '../schemas/context.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { NewFork, Thread } from '../schemas/thread.ts';
import { atSeq, Id } from '../schemas/values.ts';
import { body, json, lane, security, thread } from './shared.ts';

const forkThread = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/fork',
  operationId: 'forkThread',
  tags: ['Threads'],
  security,
  summary: 'Fork a thread as it was after an entry',
  description:
    'The fork begins with the configuration, state and contexts of that moment. The key must also allow the id of the fork.',
  request: { params: thread, body: body(NewFork) },
  responses: { 201: json('The fork.', Thread), ...problems(...bodyProblems, 404, 409, 410, 422) },
});

const diffContexts = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/contexts/{context_ref}/diff',
  operationId: 'diffContexts',
  tags: ['Contexts'],
  security,
  summary: 'Compare the contexts of two threads, lanes or entries',
  request: {
    params: lane,
    query: z.strictObject({
      at_seq: atSeq,
      other_thread_id: Id.optional().openapi({ param: { description: 'Default: the same thread.' } }),
      other_context_ref: Id.optional().openapi({ param: { description: 'Default: the same lane.' } }),
      other_at_seq: atSeq,
    }),
  },
  responses: { 200: json('The messages of both, in order.', ContextDiff), ...problems(404, 410) },
});

export function addForks(app: ApiApp): void {
  app.openapi(forkThread, async (c) => {
    const { thread_id: parent } = c.req.valid('param');
    const given = c.req.valid('json');
    const { lanefold } = c.var;
    const { id = newThreadId(), seq, metadata, repair } = given;
    const options = { contextRef: given.context_ref, systemPrompt: given.system_prompt, seq, metadata, repair };
    await lanefold.threads.fork(parent, { id, ...omitUndefined(options) }, { from: 'http' });
    return c.json(toJson(await lanefold.threads.get(id)), 201, { Location: `/v1/threads/${id}` });
  });

  app.openapi(diffContexts, async (c) => {
    const { thread_id: threadId, context_ref: contextRef } = c.req.valid('param');
    const query = c.req.valid('query');
    const data = await c.var.lanefold.contexts.diff(
      { threadId, contextRef, ...omitUndefined({ atSeq: query.at_seq }) },
      {
        threadId: query.other_thread_id ?? threadId,
        contextRef: query.other_context_ref ?? contextRef,
        ...omitUndefined({ atSeq: query.other_at_seq }),
      },
    );
    return c.json({ data }, 200);
  });
}

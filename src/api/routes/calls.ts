import { createRoute } from '@hono/zod-openapi';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { ModelCall } from '../schemas/call.ts';
import { problems } from '../schemas/problem.ts';
import { Id } from '../schemas/values.ts';
import { json, security, thread } from './shared.ts';

const getCall = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/calls/{llm_call_id}',
  operationId: 'getCall',
  tags: ['Contexts'],
  security,
  summary: 'Read the exact context of a model call, with its verified hash',
  description: 'Answers carry the id of their call as `llm_call_id` in `refs`, and so do the events about the call.',
  request: { params: thread.extend({ llm_call_id: Id }) },
  responses: { 200: json('The call.', ModelCall), ...problems(404, 410) },
});

export function addCalls(app: ApiApp): void {
  app.openapi(getCall, async (c) => {
    const { thread_id: threadId, llm_call_id: callId } = c.req.valid('param');
    const call = await c.var.lanefold.contexts.call(threadId, callId);
    return c.json(
      {
        ...toJson(call),
        failed_attempts: call.failedAttempts.map(toJson),
        tools: call.tools && call.tools.map(toJson),
      },
      200,
    );
  });
}

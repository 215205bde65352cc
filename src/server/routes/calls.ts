import { createRoute } from '@hono/zod-openapi';
import { withinRuns } from '../access/limit-runs.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { toPolicyOption } from '../../agent/policy/read-policy.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { CallReplay, ModelCall, ReplayRequest } from '../schemas/call.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { Id } from '../schemas/values.ts';
import { body, json, security, thread } from './shared.ts';

const getCall = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/calls/{llm_call_id}',
  operationId: 'getCall',
  tags: ['Contexts'],
  security,
  summary: 'Read the exact context of a model call, and verify its hash',
  description:
    'An answer has the id of its call in `refs.llm_call_id`; events about the call have it in `data.call_id`.',
  request: { params: thread.extend({ llm_call_id: Id }) },
  responses: { 200: json('The call.', ModelCall), ...problems(404, 410) },
});

const replayCall = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/calls/{llm_call_id}/replay',
  operationId: 'replayCall',
  tags: ['Contexts'],
  security,
  summary: 'Replay a recorded model call, to compare the answers',
  description:
    'Sends the same messages, with another model, system prompt or policy if given. Runs no tools and writes nothing to the ' +
    'thread. Each request spends tokens.',
  request: { params: thread.extend({ llm_call_id: Id }), body: body(ReplayRequest) },
  responses: {
    200: json('How the model answered, or why it did not.', CallReplay),
    ...problems(...bodyProblems, 403, 404, 410, 422),
  },
});

export function addCalls(app: ApiApp): void {
  app.openapi(replayCall, async (c) => {
    const { thread_id: threadId, llm_call_id: callId } = c.req.valid('param');
    const { model, system_prompt: systemPrompt, context_policy: policy } = c.req.valid('json');
    const { lanefold } = c.var;
    const contextPolicy = policy && toPolicyOption(policy);
    const options = { ...omitUndefined({ model, systemPrompt, contextPolicy }), signal: c.req.raw.signal };
    // a replay is not a run, but costs as much as one
    const replay = await withinRuns(c, app, () =>
      lanefold.contexts.replayCall(threadId, callId, options, { from: 'http' }),
    );
    return c.json(toJson(replay), 200);
  });

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

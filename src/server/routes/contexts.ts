import { createRoute, z } from '@hono/zod-openapi';
import type { JsonObject } from '../../agent/context/message.ts';
import { asksOfCall } from '../../runs/operations/contexts/project.ts';
import type { NewContext } from '../../runs/operations/contexts/contexts.ts';
import type { OperationReceipt as Receipt } from '../../database/store/context/apply-operation.ts';
import { LanefoldError } from '../../base/errors.ts';
import { parsePolicy } from '../../agent/policy/read-policy.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import {
  ContextOperation,
  ExplainedMessage,
  LaneList,
  LaneReset,
  OperationReceipt,
  Projection,
  type Replace,
} from '../schemas/context.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { atSeq, limit, trueOrFalse } from '../schemas/values.ts';
import {
  body,
  idempotencyKey,
  json,
  keyOf,
  lane,
  orMissing,
  replayed,
  replayedHeader,
  security,
  thread,
} from './shared.ts';

const tags = ['Contexts'];

const listLanes = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/contexts',
  operationId: 'listLanes',
  tags,
  security,
  summary: 'List the lanes of a thread',
  request: { params: thread },
  responses: { 200: json('The lanes.', LaneList), ...problems(404, 410) },
});

const getContext = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/contexts/{context_ref}',
  operationId: 'getContext',
  tags,
  security,
  summary: 'Read the context of a lane, now or as of an entry',
  request: {
    params: lane,
    // with any of the last five parameters, the context is shown as a model call would receive it
    query: z.strictObject({
      at_seq: atSeq,
      limit: limit(10_000),
      policy: z
        .string()
        .max(1_000_000)
        .optional()
        .openapi({
          param: { description: 'Context policy to apply: a preset, or a JSON object of fields.' },
          example: 'short_context',
        }),
      model: z
        .string()
        .min(1)
        .max(10_000)
        .optional()
        .openapi({
          param: {
            description:
              'Show what a call would send to this model, given its window and tokenizer. Default: the model of the agent.',
          },
        }),
      agent: z
        .string()
        .min(1)
        .max(64)
        .optional()
        .openapi({
          param: {
            description:
              'Show what a call of this agent would send, given its policy, tools and settings. Default: the agent of the lane’s latest run.',
          },
        }),
      full_budget: trueOrFalse('Show what fits the budget, instead of what the next call sends.'),
      explain: trueOrFalse('Add why each message is sent or left out. Default policy: the thread’s, else the agent’s.'),
    }),
  },
  responses: { 200: json('The context.', Projection), ...problems(404, 410, 422) },
});

const operationAnswers = {
  200: {
    ...json('The operation was applied, by this request or an earlier one.', OperationReceipt),
    ...replayedHeader,
  },
  202: json(
    'A run is active: the operation is applied when it ends, unless a later operation supersedes it.',
    OperationReceipt,
  ),
  ...problems(...bodyProblems, 404, 409, 410, 422),
};

const applyOperation = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/context-operations',
  operationId: 'applyContextOperation',
  tags,
  security,
  summary: 'Replace the context of a lane, or switch to a lane',
  request: { params: thread, headers: idempotencyKey, body: body(ContextOperation) },
  responses: operationAnswers,
});

const resetLane = createRoute({
  method: 'post',
  path: '/v1/threads/{thread_id}/contexts/{context_ref}/reset',
  operationId: 'resetLane',
  tags,
  security,
  summary: 'Empty a lane, but keep its system prompt',
  request: { params: lane, headers: idempotencyKey, body: body(LaneReset) },
  responses: operationAnswers,
});

/** A row of the view has any JSON where a message has its content and its tool calls. */
type Rows = z.infer<typeof Projection>['messages'];

const statusOf = (receipt: Receipt): 200 | 202 => (receipt.status === 'deferred' ? 202 : 200);

export function addContexts(app: ApiApp): void {
  app.openapi(listLanes, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const lanes = await orMissing(c.var.lanefold, threadId, await c.var.lanefold.contexts.lanes(threadId));
    return c.json({ data: lanes.map(toJson) }, 200);
  });

  app.openapi(getContext, async (c) => {
    const { thread_id: threadId, context_ref: contextRef } = c.req.valid('param');
    const { lanefold } = c.var;
    const { at_seq: seq, limit: most, policy, model, agent, full_budget: full, explain } = c.req.valid('query');
    const place = { thread_id: threadId, context_ref: contextRef, at_seq: seq ?? null };
    const which = omitUndefined({ contextRef, atSeq: seq, limit: most });
    const view = {
      ...omitUndefined({ policy: policy === undefined ? undefined : parsePolicy(policy), model, agent }),
      fullBudget: full === 'true',
    };
    if (!asksOfCall({ ...view, explain: explain === 'true' })) {
      const rows = await lanefold.contexts.project(threadId, which);
      return c.json({ ...place, messages: (await orMissing(lanefold, threadId, rows)) as Rows }, 200);
    }
    const { explain: why, ...projection } = await lanefold.contexts.project(threadId, {
      ...which,
      ...view,
      explain: true,
    });
    await orMissing(lanefold, threadId, projection.messages);
    const { messages, policy: applied } = projection;
    const answer = { ...place, ...projection, messages: messages as Rows, policy: applied as unknown as JsonObject };
    const reasons = why as unknown as z.infer<typeof ExplainedMessage>[];
    return c.json(explain === 'true' ? { ...answer, explain: reasons } : answer, 200);
  });

  app.openapi(applyOperation, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const {
      op_id: givenId,
      context_ref: contextRef,
      operation,
      expected_rev: expectedRev,
      repair,
    } = c.req.valid('json');
    const opId = keyOf(c.req.valid('header'), 'op_id', givenId);
    const { reason, base_seq: baseSeq, meta } = operation;
    const options = omitUndefined({ opId, expectedRev, repair, reason, baseSeq, meta });
    const receipt =
      operation.type === 'switch'
        ? await c.var.lanefold.contexts.switch(threadId, contextRef ?? missingLane(), options)
        : await c.var.lanefold.contexts.replace(
            threadId,
            toNewContext(operation.result_context),
            { ...omitUndefined({ contextRef }), ...options },
            { from: 'http' },
          );
    return c.json(toJson(receipt), statusOf(receipt), replayed(receipt.status === 'duplicate'));
  });

  app.openapi(resetLane, async (c) => {
    const { thread_id: threadId, context_ref: contextRef } = c.req.valid('param');
    const { op_id: givenId, reason, meta, expected_rev: expectedRev } = c.req.valid('json');
    const opId = keyOf(c.req.valid('header'), 'op_id', givenId);
    const receipt = await c.var.lanefold.contexts.reset(
      threadId,
      omitUndefined({ contextRef, opId, reason, meta, expectedRev }),
    );
    return c.json(toJson(receipt), statusOf(receipt), replayed(receipt.status === 'duplicate'));
  });
}

function missingLane(): never {
  throw new LanefoldError('invalid_request', 'A switch needs the context_ref of the lane to switch to.', {
    details: { errors: [{ path: 'body.context_ref', message: 'Required' }] },
  });
}

const toNewContext = ({ id, system_prompt: systemPrompt, entries }: z.infer<typeof Replace>['result_context']) =>
  ({ entries, ...omitUndefined({ id, systemPrompt }) }) as NewContext;

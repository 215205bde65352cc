import { z } from '@hono/zod-openapi';
import { Content, Message, Role, ToolCall } from './message.ts';
import { anyJson, count, Id, jsonObject, whole } from './values.ts';

export const Lane = z
  .object({
    context_ref: Id,
    anchor_seq: count('`seq` of the anchor, the latest replace operation; -1: none.', -1),
    last_seq: count('`seq` of the last entry of the lane.', 4),
    open_calls: count('Number of tool calls of the last message that have no result yet.', 0),
  })
  .openapi('Lane', { description: 'A named context of a thread.' });

export const LaneList = z.object({ data: z.array(Lane) }).openapi('LaneList');

const text = z.string().nullable();

export const ContextMessage = z
  .object({
    ordinal: count('Position in the context, from 0.', 0),
    seq: count('The entry it comes from.', 0),
    anchor_seq: count('`seq` of the anchor of the lane; -1: none.', -1),
    role: Role,
    content: Content,
    tool_calls: z.array(ToolCall).nullable(),
    tool_call_id: text,
    name: text,
    thinking: text,
    reasoning_details: anyJson('Reasoning data of the provider.'),
    provider_metadata: anyJson('Metadata of the provider.'),
    run_id: text,
    request_id: text,
    refs: anyJson('Provenance.'),
  })
  .openapi('ContextMessage', { description: 'A row of the view `lane_context`.' });

export const ProjectionMeta = z
  .object({
    estimated_tokens: count('Tokens of the messages, including the system prompt.', 75),
    tool_tokens: count('Tokens of the tools offered; 0 if this server does not know the agent.', 0),
    budget: z.int().nullable().openapi({ description: 'Maximum tokens of the request; null: no limit.' }),
    window: z.int().nullable().openapi({ description: 'The context window of the model; null: unknown.' }),
    truncated: z.boolean().openapi({ description: 'Whether the budget or `max_messages` left messages out.' }),
    entries_included: count('Messages sent, without the system prompt.', 6),
    entries_total: count('Messages of the lane, without the system prompt.', 6),
    summary_used: z.boolean(),
    over_budget: z.boolean().openapi({ description: 'Whether the messages that must be kept exceed the budget.' }),
    estimator: z.object({
      name: z.string().openapi({ example: 'calibrated' }),
      ratio: z.number().openapi({ description: 'What the heuristic is multiplied by.' }),
      error: z.number().nullable().openapi({ description: 'Mean error of `calibrated`, as a share.' }),
      calls: z
        .int()
        .nullable()
        .openapi({ description: 'Number of model calls of this process that `calibrated` has learnt from.' }),
      fallback: z.string().nullable().openapi({ description: 'Why the heuristic was used instead.' }),
    }),
  })
  .openapi('ProjectionMeta', { description: 'The result of applying a policy to a context.' });

export const ExplainedMessage = z
  .object({
    ordinal: count('Position in the context before the policy, from 0.', 0),
    seq: count('The entry of the message; -1 for the prompt of a policy.', 0),
    role: z.string(),
    kind: z.enum(['system', 'summary', 'message', 'tool_group']),
    tokens: count('Tokens of the message.', 12),
    included: z.boolean(),
    reason: z.string().openapi({
      description:
        'Sent: system_prompt, summary, durable, last_turns, question, fits, projector. Left out: kind, summarization, cut_before, budget, max_messages, before_question, not_chosen.',
      example: 'fits',
    }),
    message: jsonObject('The message itself, if it is left out.').optional(),
  })
  .openapi('ExplainedMessage', { description: 'Why a message is sent or left out, and its tokens.' });

export const Projection = z
  .object({
    thread_id: Id,
    context_ref: Id,
    at_seq: z.int().nullable().openapi({ description: 'The entry as of which the context is shown; null: now.' }),
    messages: z.array(ContextMessage),
    policy: jsonObject('With `policy` or `explain`: the policy applied, with its defaults filled in.').optional(),
    meta: ProjectionMeta.optional(),
    explain: z.array(ExplainedMessage).optional(),
  })
  .openapi('Context', {
    description: 'What the model sees on a lane: the system prompt, the messages of the anchor, and those after it.',
  });

const reason = z.enum(['manual', 'restore', 'compaction', 'system']).optional();
const shared = {
  reason,
  base_seq: whole(0).optional().openapi({ description: 'The entry the operation is based on; recorded only.' }),
  meta: jsonObject('Your own data; recorded only.').optional(),
};

export const Replace = z
  .strictObject({
    type: z.literal('replace'),
    result_context: z.strictObject({
      id: Id.optional().openapi({ description: 'Your own name for the context, kept in the log.' }),
      system_prompt: z
        .string()
        .nullable()
        .optional()
        .openapi({ description: 'Absent: the lane keeps its system prompt. null: no system prompt.' }),
      entries: z.array(Message).max(10_000),
    }),
    ...shared,
  })
  .openapi('Replace', { description: 'Replaces the context of a lane.' });

const Switch = z
  .strictObject({ type: z.literal('switch'), ...shared })
  .openapi('Switch', { description: 'Makes a lane the active one.' });

const opId = Id.optional().openapi({
  description: 'An id is applied at most once per thread. Or send it as `Idempotency-Key`.',
});
const expectedRev = whole(0)
  .optional()
  .openapi({ description: 'Apply only if the thread is at this `rev`; otherwise fail with `rev_conflict`.' });

export const ContextOperation = z
  .strictObject({
    op_id: opId,
    context_ref: Id.optional().openapi({
      description: 'The lane. Required for a switch; for a replace, default: the active lane.',
    }),
    operation: z.discriminatedUnion('type', [Replace, Switch]),
    expected_rev: expectedRev,
    repair: z
      .boolean()
      .optional()
      .openapi({ description: 'Add flagged error results for tool calls that have no result.' }),
  })
  .openapi('ContextOperation', {
    example: {
      context_ref: 'default',
      operation: {
        type: 'replace',
        result_context: { entries: [{ role: 'user', content: 'In short: my order is late.' }] },
      },
    },
  });

export const LaneReset = z
  .strictObject({
    op_id: opId,
    reason,
    meta: jsonObject('Your own data; recorded only.').optional(),
    expected_rev: expectedRev,
  })
  .openapi('LaneReset', { example: {} });

export const OperationReceipt = z
  .object({
    op_id: Id,
    status: z
      .enum(['applied', 'deferred', 'duplicate', 'stale'])
      .openapi({ description: 'deferred: a run is active; the operation is applied when it ends.' }),
    op_status: z.enum(['pending', 'applied', 'superseded', 'stale']),
    seq: z.int().nullable().openapi({ description: 'The entry of the operation, once applied.' }),
  })
  .openapi('OperationReceipt', { example: { op_id: 'op-1', status: 'applied', op_status: 'applied', seq: 7 } });

const place = (description: string) => z.int().nullable().openapi({ description });
export const ContextDiff = z
  .object({
    data: z.array(
      z.object({
        change: z
          .enum(['same', 'removed', 'added'])
          .openapi({ description: 'removed: only in the first context; added: only in the second.' }),
        ordinal: place('Position in the first context.'),
        seq: place('Its entry in the first thread.'),
        other_ordinal: place('Position in the second context.'),
        other_seq: place('Its entry in the second thread.'),
        role: z.string().openapi({ example: 'user' }),
        content: anyJson('A string or an array of parts.'),
        tool_calls: anyJson('An array or null.'),
        tool_call_id: text,
        name: text,
      }),
    ),
  })
  .openapi('ContextDiff', { description: 'The messages of two contexts, in order.' });

export const Compact = z
  .strictObject({
    context_ref: Id.optional().openapi({ description: 'The lane; default: the active lane.' }),
    range: z
      .strictObject({ from_seq: whole(0), to_seq: whole(0) })
      .optional()
      .openapi({ description: 'Entries to summarise, inclusive. Default: all but the newest turns.' }),
    keep_turns: whole(0, 10_000).optional().openapi({
      description: 'How many of the newest turns to keep; default: `keep_last_turns` of the context policy.',
    }),
    agent: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .openapi({ description: 'Default: the agent of the lane’s latest run.' }),
    model: z
      .string()
      .min(1)
      .max(10_000)
      .optional()
      .openapi({ description: 'Default: the model of the lane’s latest run.' }),
  })
  .openapi('Compact', { example: { keep_turns: 2 } });

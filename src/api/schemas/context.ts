import { z } from '@hono/zod-openapi';
import { Message } from './message.ts';
import { anyJson, count, Id, jsonObject, whole } from './values.ts';

export const Lane = z
  .object({
    context_ref: Id,
    anchor_seq: count('`seq` of the latest replace, -1 without one.', -1),
    last_seq: count('`seq` of its last entry.', 4),
    open_calls: count('Tool calls of its last message that wait for a result.', 0),
  })
  .openapi('Lane', { description: 'One context of a thread.' });

export const LaneList = z.object({ data: z.array(Lane) }).openapi('LaneList');

const text = z.string().nullable();

export const ContextMessage = z
  .object({
    ordinal: count('Place in the context, from 0.', 0),
    seq: count('The entry it comes from.', 0),
    anchor_seq: count('`seq` of the anchor of the lane, -1 without one.', -1),
    role: z.string().openapi({ example: 'system' }),
    content: anyJson('A string, or a list of parts.'),
    tool_calls: anyJson('A list, or null.'),
    tool_call_id: text,
    name: text,
    thinking: text,
    reasoning_details: anyJson('Of the provider.'),
    provider_metadata: anyJson('Of the provider.'),
    run_id: text,
    request_id: text,
    refs: anyJson('Where it came from.'),
  })
  .openapi('ContextMessage', { description: 'A row of the view `lane_context`.' });

export const Projection = z
  .object({
    thread_id: Id,
    context_ref: Id,
    at_seq: z.int().nullable().openapi({ description: 'As of which entry; null: now.' }),
    messages: z.array(ContextMessage),
  })
  .openapi('Context', {
    description: 'What the model sees of a lane: the system prompt, then the messages since the latest replace.',
  });

const reason = z.enum(['manual', 'restore', 'compaction', 'system']).optional();
const shared = {
  reason,
  base_seq: whole(0).optional().openapi({ description: 'The entry the operation was made from; recorded.' }),
  meta: jsonObject('Yours; recorded.').optional(),
};

const Replace = z
  .strictObject({
    type: z.literal('replace'),
    result_context: z.strictObject({
      system_prompt: z
        .string()
        .nullable()
        .optional()
        .openapi({ description: 'Absent: the lane keeps its prompt. null: none.' }),
      entries: z.array(Message).max(10_000),
    }),
    ...shared,
  })
  .openapi('Replace', { description: 'A new beginning of a lane.' });

const Switch = z
  .strictObject({ type: z.literal('switch'), ...shared })
  .openapi('Switch', { description: 'Makes a lane the active one.' });

const opId = Id.optional().openapi({
  description: 'Makes it happen once in the life of the thread; also as Idempotency-Key.',
});
const expectedRev = whole(0).optional().openapi({ description: 'Only at this rev, else `rev_conflict`.' });

export const ContextOperation = z
  .strictObject({
    op_id: opId,
    context_ref: Id,
    operation: z.discriminatedUnion('type', [Replace, Switch]),
    expected_rev: expectedRev,
    repair: z.boolean().optional().openapi({ description: 'Adds flagged error results for tool calls without one.' }),
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
  .strictObject({ op_id: opId, reason, meta: jsonObject('Yours; recorded.').optional(), expected_rev: expectedRev })
  .openapi('LaneReset', { example: {} });

export const OperationReceipt = z
  .object({
    op_id: Id,
    status: z
      .enum(['applied', 'deferred', 'duplicate', 'stale'])
      .openapi({ description: 'deferred: a run is active; it is applied when that has ended.' }),
    op_status: z.enum(['pending', 'applied', 'superseded', 'stale']),
    seq: z.int().nullable().openapi({ description: 'Its entry, once applied.' }),
  })
  .openapi('OperationReceipt', { example: { op_id: 'op-1', status: 'applied', op_status: 'applied', seq: 7 } });

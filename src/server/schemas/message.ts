import { z } from '@hono/zod-openapi';
import type { ContentInput } from '../../agent/models/accept-content.ts';
import { Content as Declared } from '../../agent/models/content-schema.ts';
import { wireSchema } from '../declared/wire-schema.ts';
import { Id, jsonObject, whole } from './values.ts';

export const Content = wireSchema(Declared) as unknown as z.ZodType<ContentInput>;

export const ToolCall = z
  .strictObject({
    id: z.string().min(1).max(1_000),
    name: z.string().min(1).max(1_000),
    arguments: z.any().openapi({ description: 'Any JSON.' }),
    arguments_raw: z.string().optional().openapi({ description: 'The provider’s original string, byte for byte.' }),
    provider_metadata: jsonObject('Metadata of the provider.').optional(),
  })
  .openapi('ToolCall');

export const Message = z
  .strictObject({
    role: z.enum(['user', 'assistant', 'tool']),
    content: Content,
    tool_calls: z.array(ToolCall).max(1_000).optional(),
    tool_call_id: z.string().max(1_000).optional(),
    name: z.string().max(1_000).optional(),
    thinking: z.string().optional(),
    reasoning_details: z.any().optional(),
    provider_metadata: jsonObject('Metadata of the provider.').optional(),
  })
  .openapi('Message', { example: { role: 'user', content: 'Where is my order?' } });

const refs = jsonObject('Provenance; your own data, up to 64 KiB.').optional();

export const Role = z.enum(['system', 'user', 'assistant', 'tool']).openapi('Role');

export const SentMessage = z
  .object({ ...Message.shape, role: Role })
  .openapi('SentMessage', { description: 'A message as a model is sent it.' });

export const MessageEntry = z
  .strictObject({ kind: z.literal('ai_message'), context_ref: Id.optional(), payload: Message, refs })
  .openapi('NewMessageEntry', { description: 'A message on a lane; default: the lane `default`.' });

export const OwnEntry = z
  .strictObject({
    kind: Id.refine((kind) => kind !== 'ai_message', { abort: true })
      .optional()
      .openapi({ description: 'Default: `note`.' }),
    context_ref: Id.optional(),
    payload: jsonObject('Your own data; default: {}.').optional(),
    refs,
  })
  .openapi('NewOwnEntry', {
    description: 'An entry of your own kind, which no model sees.',
    example: { kind: 'order_shipped', payload: { order: 42 } },
  });

export const AppendEntries = z
  .strictObject({
    entries: z
      .array(z.union([MessageEntry, OwnEntry]))
      .min(1)
      .max(1_000),
    expected_rev: whole(0)
      .optional()
      .openapi({ description: 'Append only if the thread is at this `rev`; otherwise fail with `rev_conflict`.' }),
    repair: z
      .boolean()
      .optional()
      .openapi({ description: 'Add flagged error results for tool calls that have no result.' }),
    op_id: Id.optional().openapi({
      description: 'Repeating the id returns the first receipt. Or send it as `Idempotency-Key`.',
    }),
  })
  .openapi('AppendEntries', {
    example: { entries: [{ kind: 'ai_message', payload: { role: 'user', content: 'Where is my order?' } }] },
  });

export const AppendReceipt = z
  .object({
    first_seq: z.int(),
    rev: z.int().openapi({
      description: 'Current number of entries of the thread. For a duplicate, it includes entries appended since.',
    }),
    duplicate: z.boolean(),
  })
  .openapi('AppendReceipt', { example: { first_seq: 5, rev: 6, duplicate: false } });

import { z } from '@hono/zod-openapi';
import { Content } from './message.ts';
import { count, Id, jsonObject, next, timestamp } from './values.ts';

/** Not validated here: the library rejects invalid input with a reason, or throws `invalid_input`. */
const any = z.custom<unknown>((value) => value !== undefined, 'Required.');

export const NewInput = z
  .strictObject({
    content: any.openapi({
      type: ['string', 'array'],
      items: { $ref: '#/components/schemas/ContentPart' },
      description: 'Text, which is trimmed, or content parts.',
    }),
    role: any.optional().openapi({ type: 'string', enum: ['user'], description: 'Input always has the role user.' }),
    source: z.string().min(1).max(200).optional().openapi({ description: 'Who sent it, for the log.' }),
    extra_refs: jsonObject('Stored in the refs of the message; up to 64 KiB.').optional(),
    expected_request_id: Id.optional().openapi({
      description: 'Reject the input unless the run of this request is active.',
    }),
    input_id: Id.optional().openapi({
      description: 'Repeating the id does not repeat the input. Or send it as `Idempotency-Key`.',
    }),
  })
  .openapi('NewInput', { example: { content: 'And keep it short.' } });

const status = z.enum(['queued', 'injected', 'dropped']).openapi({
  description:
    'queued: the run reads it before its next model call; injected: it is in the context; dropped: the run ended first.',
});

export const InputReceipt = z
  .object({
    input_id: Id,
    thread_id: Id,
    run_id: Id,
    status,
    duplicate: z.boolean().openapi({ description: 'true: the input had already been accepted.' }),
  })
  .openapi('InputReceipt', { description: 'The run accepted the input.' });

export const Input = z
  .object({
    id: Id,
    run_id: Id,
    ordinal: count('Position among the inputs of the run, from 1.', 1),
    kind: z.enum(['steer', 'inject']),
    source: z.string(),
    content: Content,
    status,
    entry_seq: z.int().nullable().openapi({ description: 'The entry of the resulting message.' }),
    created_at: timestamp('When it was accepted.'),
    settled_at: timestamp('When it became a message or was dropped.').nullable(),
  })
  .openapi('Input', { description: 'Input sent to an active run.' });

export const InputPage = z.object({ data: z.array(Input), next_after: next }).openapi('InputPage');

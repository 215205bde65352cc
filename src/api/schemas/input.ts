import { z } from '@hono/zod-openapi';
import { count, Id, jsonObject, next, timestamp } from './values.ts';

/** Left to the library, whose order of refusals says first whether anybody listens. */
const any = z.custom<unknown>((value) => value !== undefined, 'Required.');

export const NewInput = z
  .strictObject({
    content: any.openapi({ type: 'string', description: 'What is said; trimmed.' }),
    role: any.optional().openapi({ type: 'string', enum: ['user'], description: 'Input speaks as the user.' }),
    source: z.string().min(1).max(200).optional().openapi({ description: 'Who says it, for the log.' }),
    extra_refs: jsonObject('Kept in the refs of the message.').optional(),
    expected_request_id: Id.optional().openapi({ description: 'Refuse unless this request is the active one.' }),
    input_id: Id.optional().openapi({ description: 'The same id again is the same input; also as Idempotency-Key.' }),
  })
  .openapi('NewInput', { example: { content: 'And keep it short.' } });

const status = z.enum(['queued', 'injected', 'dropped']).openapi({
  description:
    'queued: the run takes it before its next model call; injected: it is in the context; dropped: the run ended first.',
});

export const InputReceipt = z
  .object({
    input_id: Id,
    thread_id: Id,
    run_id: Id,
    status,
    duplicate: z.boolean().openapi({ description: 'It was accepted before.' }),
  })
  .openapi('InputReceipt', { description: 'The run has the input.' });

export const Input = z
  .object({
    id: Id,
    run_id: Id,
    ordinal: count('Place among the inputs of the run, from 1.', 1),
    kind: z.enum(['steer', 'inject']),
    source: z.string(),
    content: z.string(),
    status,
    entry_seq: z.int().nullable().openapi({ description: 'The message it became.' }),
    created_at: timestamp('When it was accepted.'),
    settled_at: timestamp('When it became a message or was dropped.').nullable(),
  })
  .openapi('Input', { description: 'What a run was told while it was active.' });

export const InputPage = z
  .object({ data: z.array(Input), next_after_ordinal: next('after_ordinal') })
  .openapi('InputPage');

import { z } from '@hono/zod-openapi';
import { maxExpiryMs } from '../../runs/operations/runs/checkpoints.ts';
import { Content } from './message.ts';
import { count, Id, timestamp, whole } from './values.ts';

const token = z.string().max(10_000).openapi({
  description: 'Signed, not encrypted. It names a run and its step, and contains nothing from the conversation.',
});
const example = 'rt2.eyJ2IjoyfQ.c2lnbmF0dXJl';

export const NewCheckpoint = z
  .strictObject({
    expires_in_ms: whole(1, maxExpiryMs)
      .nullable()
      .optional()
      .openapi({ description: 'Lifetime of the token; default: 30 days. null: unlimited.' }),
  })
  .openapi('NewCheckpoint', { example: { expires_in_ms: 86_400_000 } });

export const Checkpoint = z
  .object({
    token,
    thread_id: Id,
    run_id: Id,
    step: count('The step the token refers to.', 3),
    expires_at: timestamp('When the token expires; null: never.').nullable(),
  })
  .openapi('Checkpoint', { description: 'A token for a step of a run.' });

export const Resume = z
  .strictObject({
    token,
    query: Content.optional().openapi({ description: 'A new user message; starts a new run on the same lane.' }),
    request_id: Id.optional().openapi({
      description: 'With `query`: repeating the id returns the same run. Or send it as `Idempotency-Key`.',
    }),
  })
  .openapi('Resume', { example: { token: example, query: 'And the second one?' } });

export const Collect = z.strictObject({ token }).openapi('Collect', { example: { token: example } });

export const CancelByToken = z
  .strictObject({ token, reason: z.string().min(1).max(1_000).optional() })
  .openapi('CancelByToken', { example: { token: example, reason: 'no longer needed' } });

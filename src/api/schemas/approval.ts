import { z } from '@hono/zod-openapi';
import { RunStatus } from './run.ts';
import { Id, timestamp } from './values.ts';

/** A tool call in a path: its round, counted from 1, and its index in the round, counted from 0. */
export const Call = z
  .string()
  .regex(/^\d{1,4}\.\d{1,4}$/, 'Must be the round and index of the call, such as 1.0.')
  .openapi({ description: 'Round and index of the call, as in `awaiting` of the run.', example: '1.0' });

const text = (description: string) => z.string().min(1).max(1_000).optional().openapi({ description });

export const Decision = z
  .strictObject({
    reason: text('Reason for the decision; the model sees the reason for a denial.'),
    by: text('Who made the decision.'),
  })
  .openapi('Decision', { example: { by: 'ada', reason: 'over the limit' } });

export const DecisionReceipt = z
  .object({
    thread_id: Id,
    run_id: Id,
    call: Call,
    decision: z.enum(['approved', 'denied']),
    by: z.string().nullable(),
    reason: z.string().nullable(),
    decided_at: timestamp('When the decision was made.'),
    duplicate: z.boolean().openapi({ description: 'true: the same decision had already been made.' }),
    status: RunStatus,
  })
  .openapi('DecisionReceipt');

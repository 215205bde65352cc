import { z } from '@hono/zod-openapi';
import { RunStatus } from './run.ts';
import { Call, Id, timestamp } from './values.ts';

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

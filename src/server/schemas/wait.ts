import { z } from '@hono/zod-openapi';
import { Call, count, Id, nextCursor, whole } from './values.ts';
import { RunStatus, RunWait } from './run.ts';

export const PendingWait = z
  .object({ thread_id: Id, run_id: Id, ...RunWait.shape })
  .openapi('PendingWait', { description: 'A tool call that waits for an event, a time or another run.' });

export const WaitPage = z.object({ data: z.array(PendingWait), next_after: nextCursor }).openapi('WaitPage');

export const Release = z
  .strictObject({
    result: z.unknown().optional().openapi({ description: 'The result of the call: text or JSON; default null.' }),
    error: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .openapi({ description: 'The call fails with this message instead.' }),
    by: z.string().min(1).max(1_000).optional().openapi({ description: 'Who released it.' }),
  })
  .openapi('Release', { example: { result: { paid: true }, by: 'ada' } });

export const ReleasedWait = z
  .object({
    released: z.boolean().openapi({ description: 'false: the wait had ended before, and nothing changed.' }),
    wait: z.enum(['resolved', 'expired', 'released', 'abandoned']).openapi({ description: 'How the wait ended.' }),
    status: RunStatus.openapi({ description: 'The status of the run: `suspended` while other calls wait.' }),
  })
  .openapi('ReleasedWait');

export const NewEvent = z
  .strictObject({
    payload: z.unknown().optional().openapi({ description: 'Text or JSON, at most 262,144 bytes; default null.' }),
    keep_ms: whole(0, 31_536_000_000).optional().openapi({
      description: 'Keeps the event for so long, for calls that begin to wait for it later; default 0.',
    }),
  })
  .openapi('NewEvent', { example: { payload: { amount: 42 }, keep_ms: 60_000 } });

export const SentEvent = z
  .object({
    event: Id,
    released: z
      .array(
        z.object({
          thread_id: Id,
          run_id: Id,
          call: Call,
          round: count('Tool round of the run, from 1.', 1),
          index: count('Position in the round, from 0.', 0),
        }),
      )
      .openapi({ description: 'The calls whose waits it ended.' }),
    kept: z.boolean().openapi({ description: 'Whether it is kept for later waits.' }),
  })
  .openapi('SentEvent');

export const NewEventToken = z
  .strictObject({
    expires_ms: whole(1)
      .optional()
      .openapi({ description: 'Default: 30 days. The token also ends with the key that made it.' }),
    keep_ms: whole(0, 31_536_000_000).optional().openapi({ description: 'As for the event; default 0.' }),
  })
  .openapi('NewEventToken', { example: { expires_ms: 86_400_000 } });

export const EventToken = z
  .object({
    token: z.string(),
    path: z.string().openapi({
      description: 'A POST to this URL sends the event, with the JSON body as its payload.',
      example: '/signed/events/ev1.…',
    }),
  })
  .openapi('EventToken');

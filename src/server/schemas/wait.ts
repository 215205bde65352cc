import { z } from '@hono/zod-openapi';
import { cost } from './cost.ts';
import { Run, RunStatus } from './run.ts';
import { RunRef, RunWait } from './run-ref.ts';
import { Usage } from './usage.ts';
import { Call, count, Id, nextCursor, orNull, timestamp, whole } from './values.ts';

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

const TreeRun = z
  .object({
    ...{ thread_id: Id, id: Run.shape.id, agent: z.string(), model: z.string(), context_ref: Id, status: RunStatus },
    ...{ termination_reason: Run.shape.termination_reason, iteration: Run.shape.iteration, error: Run.shape.error },
    depth: count('0 for the root.', 1),
    parent: orNull(
      z.object({
        ...RunRef.shape,
        call: Call,
        round: count('Tool round of the call that started it.', 1),
        index: count('Position of the call in its round.', 0),
      }),
    ).openapi({ description: 'The call that started it; null for the root.' }),
    usage: orNull(Usage),
    ...cost,
    waits: z.array(RunWait),
    created_at: timestamp('When the run was accepted.'),
    started_at: timestamp('When a worker first claimed it.').nullable(),
    finished_at: timestamp('When the run ended.').nullable(),
  })
  .openapi('TreeRun');

export const RunTree = z
  .object({
    root: RunRef,
    runs: z
      .array(TreeRun)
      .openapi({ description: 'Each run is followed by the runs that it started, in order of time.' }),
    usage: orNull(Usage).openapi({ description: 'Of all runs of the tree.' }),
    ...cost,
  })
  .openapi('RunTree', { description: 'A run, and the runs that its tool calls and theirs have started.' });

import { z } from '@hono/zod-openapi';
import { maxDelayMs } from '../../runs/operations/runs/enqueue.ts';
import { RunId } from './run-ref.ts';
import { Content } from './message.ts';
import { Problem } from './problem.ts';
import { runFields } from './run-overrides.ts';
import { Id, jsonObject } from './values.ts';
import { RunStatus } from './run.ts';

export const NewRun = z
  .strictObject({
    agent: z.string().min(1).max(200).openapi({ example: 'assistant' }),
    input: Content,
    context_ref: Id.optional().openapi({ description: 'The lane; default: the thread’s active lane.' }),
    request_id: Id.optional().openapi({
      description: 'Repeating the id returns the same run. Or send it as `Idempotency-Key`.',
    }),
    busy: z.enum(['reject', 'wait', 'interrupt']).optional().openapi({
      description:
        'If the thread has an active run: `reject` (default) fails with 409 `thread_busy`, `wait` queues behind it, `interrupt` cancels it and goes first, which also needs the scope `steer`.',
    }),
    delay_ms: z.int().min(0).max(maxDelayMs).optional().openapi({
      description: 'No worker starts the run before this delay. Meanwhile, the run keeps its thread busy.',
    }),
    ttl_ms: z.int().min(1).max(maxDelayMs).optional().openapi({
      description:
        'The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay.',
    }),
    ...runFields,
    extra_refs: jsonObject('Stored in the refs of the user message.').optional(),
    create_thread: z.boolean().optional().openapi({ description: 'Create the thread if it does not exist.' }),
  })
  .openapi('NewRun', {
    example: { agent: 'assistant', input: 'What is 12 * (3 + 4)?', create_thread: true },
  });

/** A run of a batch. */
export const BatchRun = NewRun.safeExtend({
  thread_id: Id.optional().openapi({ description: 'Default: a new thread.' }),
}).openapi('BatchRun', {
  example: { thread_id: 'orders-42', agent: 'assistant', input: 'What is 12 * (3 + 4)?', create_thread: true },
});

/** Each run is validated separately, so that an invalid one does not affect the others. */
export const NewRuns = z
  .strictObject({
    runs: z
      .array(z.unknown().openapi({ allOf: [{ $ref: '#/components/schemas/BatchRun' }] }))
      .min(1)
      .max(1_000),
  })
  .openapi('NewRuns', {
    example: {
      runs: [
        { agent: 'assistant', input: 'What is 12 * (3 + 4)?' },
        { agent: 'assistant', input: 'And 7 * 8?', delay_ms: 60_000, priority: 10 },
      ],
    },
  });

export const RunReceipt = z
  .object({ id: RunId, thread_id: Id, request_id: RunId, status: RunStatus, duplicate: z.boolean() })
  .openapi('RunReceipt', { description: 'The run was accepted and will end, even if processes crash.' });

export const RunReceipts = z
  .object({
    data: z.array(
      z.object({
        run: RunReceipt.optional(),
        problem: Problem.optional().openapi({ description: 'Why the run was not accepted.' }),
      }),
    ),
  })
  .openapi('RunReceipts', { description: 'One answer per run, in the order of the request.' });

const freshChildren = z
  .boolean()
  .optional()
  .openapi({
    description:
      'True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has asked it ' +
      'gets the answer that the agent gave then.',
  });

export const RetryRun = z
  .strictObject({
    request_id: Id.optional().openapi({ description: 'Repeating the id returns the same run.' }),
    busy: z.enum(['reject', 'wait', 'interrupt']).optional().openapi({ description: 'As for a new run.' }),
    fresh_children: freshChildren,
  })
  .openapi('RetryRun', { example: { busy: 'wait' } });

export const Rerun = z
  .strictObject({
    thread_id: Id.optional().openapi({ description: 'Id of the fork; default: a generated id.' }),
    version: runFields.version,
    model: z.string().min(1).max(10_000).optional().openapi({ description: 'Overrides the model of the run.' }),
    system_prompt: z
      .string()
      .nullable()
      .optional()
      .openapi({ description: 'Overrides the prompt of the lane; every agent must list it as overridable.' }),
    context_policy: runFields.context_policy,
    fresh_children: freshChildren,
    metadata: jsonObject('Your own data, stored with the fork.').optional(),
    request_id: Id.optional().openapi({ description: 'Repeating the id returns the same run.' }),
  })
  .openapi('Rerun', { example: { model: 'anthropic:claude-sonnet-4-5' } });

export const CancelRun = z
  .strictObject({ reason: z.string().min(1).max(1_000).optional() })
  .openapi('CancelRun', { example: { reason: 'no longer needed' } });

export const CancelReceipt = z
  .object({
    id: Id,
    thread_id: Id,
    status: RunStatus,
    accepted: z.boolean().openapi({ description: 'false: the run had already ended.' }),
  })
  .openapi('CancelReceipt');

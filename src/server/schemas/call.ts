import { z } from '@hono/zod-openapi';
import { SentMessage } from './message.ts';
import { count, Id, jsonObject, orNull, timestamp } from './values.ts';
import { ContextPolicy, Usage } from './run.ts';

export const Tool = z
  .object({ name: z.string(), description: z.string().nullable(), input_schema: jsonObject('JSON Schema.') })
  .openapi('Tool');

export const ModelCall = z
  .object({
    thread_id: Id,
    run_id: Id,
    llm_call_id: Id,
    context_ref: Id,
    agent: z.string(),
    model: z.string(),
    window: z.int().nullable().openapi({ description: 'Size of the model’s context window in tokens; null: unknown.' }),
    iteration: count('Iteration of the run, from 1.', 1),
    seq: count('The entry of the answer.', 4),
    messages: z.array(SentMessage).openapi({ description: 'The messages as they were sent, in canonical form.' }),
    sources: z.array(z.int().nullable()).openapi({
      description: 'For each message, the `seq` of its entry; null for instructions that are never stored.',
    }),
    context_hash: z.string().openapi({
      description:
        'The hash that the worker recorded when it sent the messages: SHA-256, in hex, of the canonical JSON (RFC 8785) of each, ' +
        'followed by a newline.',
    }),
    verified: z
      .boolean()
      .openapi({ description: 'Whether the messages have this hash: if so, they are byte for byte what was sent.' }),
    unverified_because: z.enum(['transformed', 'output_contract', 'mismatch']).nullable().openapi({
      description:
        'Why the messages do not have the hash: a request transformer changed them, this server does not know the output contract, or neither explains the mismatch; null if they have it.',
    }),
    answer: jsonObject('The answer.'),
    refs: jsonObject('Provenance of the answer.'),
    usage: orNull(Usage).openapi({ description: 'Null if the trace was deleted.' }),
    finish_reason: z.string().nullable(),
    started_at: timestamp('When the call started; null if the trace was deleted.').nullable(),
    completed_at: timestamp('When the answer was committed.'),
    duration_ms: z.number().nullable(),
    failed_attempts: z
      .array(
        z.object({
          kind: z.string().openapi({ example: 'llm_retry' }),
          at: timestamp('When the failure was committed.'),
          data: jsonObject('Depends on the kind.'),
        }),
      )
      .openapi({ description: 'Failed or lost attempts before this answer.' }),
    tools: z.array(Tool).nullable().openapi({
      description: 'The tools offered, as this server defines the agent; null if it does not know the agent.',
    }),
    prefix_break: z
      .object({
        position: count('Position of the first message that differs, from 0.', 2),
        seq: count(
          'The entry that caused it: the new prompt, the anchor, or the answer whose `refs` say what the policy left out.',
          4,
        ),
        cause: z.enum(['prompt', 'anchor', 'policy']),
      })
      .nullable()
      .openapi({
        description:
          'Where and why the messages stop matching the previous call on the lane; null if they begin with everything it sent, or if the log cannot tell.',
      }),
    previous_call_id: orNull(Id).openapi({ description: 'The previous call on the lane.' }),
    next_call_id: orNull(Id).openapi({ description: 'The next call on the lane.' }),
  })
  .openapi('ModelCall', { description: 'One answered model call: exactly what was sent, and what came back.' });

export const ReplayRequest = z
  .strictObject({
    model: z.string().min(1).max(10_000).optional().openapi({ description: 'Default: the model of the call.' }),
    system_prompt: z.string().nullable().optional().openapi({
      description: 'Replaces the whole system message; null: none. Default: the one that was sent.',
    }),
    context_policy: ContextPolicy.optional().openapi({
      description: 'Cuts the context of the lane as it was before the call, instead of the policy of the run.',
    }),
  })
  .openapi('ReplayRequest', { example: { model: 'openai:gpt-5' } });

export const CallReplay = z
  .object({
    thread_id: Id,
    llm_call_id: Id,
    model: z.string(),
    verified: z.boolean().openapi({ description: 'Whether the messages, before any change, have the recorded hash.' }),
    messages: count('Number of messages sent, including the system prompt.', 5),
    answer: orNull(jsonObject('The answer; its tool calls were not executed. Null if the call failed.')),
    error: z.object({ type: z.string(), message: z.string() }).nullable(),
    usage: orNull(Usage).openapi({ description: 'Null if the call failed.' }),
    finish_reason: z.string().nullable(),
    duration_ms: z.number(),
  })
  .openapi('CallReplay', { description: 'How a model answered a replayed call. It is not stored.' });

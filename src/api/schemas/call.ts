import { z } from '@hono/zod-openapi';
import { ContextPolicy } from './context-policy.ts';
import { SentMessage } from './message.ts';
import { Usage } from './usage.ts';
import { count, Id, jsonObject, orNull, timestamp } from './values.ts';

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
    window: z.int().nullable().openapi({ description: 'Tokens of the model’s context window; null: unknown.' }),
    iteration: count('Of the run, from 1.', 1),
    seq: count('The entry of the answer.', 4),
    messages: z.array(SentMessage).openapi({ description: 'The messages as they were sent, in canonical form.' }),
    sources: z.array(z.int().nullable()).openapi({
      description: 'For each message the `seq` of its entry; null for instructions that are never stored.',
    }),
    context_hash: z.string().openapi({
      description:
        'SHA-256, in hex, of the canonical JSON (RFC 8785) of the messages, each followed by a newline, as the worker recorded ' +
        'it when it sent them.',
    }),
    verified: z
      .boolean()
      .openapi({ description: 'The messages have that hash: they are what was sent, byte for byte.' }),
    unverified_because: z.enum(['transformed', 'output_contract', 'mismatch']).nullable().openapi({
      description:
        'What keeps the log from reproducing the messages: a request transformer, or an output contract this server does not know.',
    }),
    answer: jsonObject('The answer.'),
    refs: jsonObject('Provenance of the answer.'),
    usage: orNull(Usage).openapi({ description: 'Null if the trace was cleared.' }),
    finish_reason: z.string().nullable(),
    started_at: timestamp('When the call was committed to; null if the trace was cleared.').nullable(),
    completed_at: timestamp('When the answer was committed.'),
    duration_ms: z.number().nullable(),
    failed_attempts: z
      .array(
        z.object({
          kind: z.string().openapi({ example: 'llm_retry' }),
          at: timestamp('When it was committed.'),
          data: jsonObject('Depends on the kind.'),
        }),
      )
      .openapi({ description: 'Failed or lost attempts before this answer.' }),
    tools: z
      .array(Tool)
      .nullable()
      .openapi({ description: 'The tools offered, as this server knows the agent; null if it does not.' }),
    prefix_break: z
      .object({
        position: count('The first message that differs from the call before.', 2),
        seq: count(
          'The entry that did it: the new prompt, the anchor, or the answer whose refs say what its policy left out.',
          4,
        ),
        cause: z.enum(['prompt', 'anchor', 'policy']),
      })
      .nullable()
      .openapi({
        description: 'What broke the beginning it would share with the call before it on the lane; or null.',
      }),
    previous_call_id: orNull(Id).openapi({ description: 'The call before it on the lane.' }),
    next_call_id: orNull(Id).openapi({ description: 'The call after it on the lane.' }),
  })
  .openapi('ModelCall', { description: 'One answered model call: exactly what was sent, and what came back.' });

export const ReplayRequest = z
  .strictObject({
    model: z.string().min(1).max(10_000).optional().openapi({ description: 'Default: the model of the call.' }),
    system_prompt: z.string().nullable().optional().openapi({
      description: 'In place of the whole system message; null for none. Default: the one that was sent.',
    }),
    context_policy: ContextPolicy.optional().openapi({
      description: 'Cuts the context of the lane, as it was before the call, in place of the policy of the run.',
    }),
  })
  .openapi('ReplayRequest', { example: { model: 'openai:gpt-5' } });

export const CallReplay = z
  .object({
    thread_id: Id,
    llm_call_id: Id,
    model: z.string(),
    verified: z
      .boolean()
      .openapi({ description: 'The recorded messages, before any change, have the hash that was recorded.' }),
    messages: count('Messages sent, the system prompt included.', 5),
    answer: orNull(jsonObject('The answer; its tool calls were not executed. Null if the call failed.')),
    error: z.object({ type: z.string(), message: z.string() }).nullable(),
    usage: orNull(Usage).openapi({ description: 'Null if the call failed.' }),
    finish_reason: z.string().nullable(),
    duration_ms: z.number(),
  })
  .openapi('CallReplay', { description: 'How a model answered a recorded call. Stored nowhere.' });

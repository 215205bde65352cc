import { z } from '@hono/zod-openapi';
import { Content } from './message.ts';
import { overrides } from './run-overrides.ts';
import { anyJson, count, Id, jsonObject, next, timestamp } from './values.ts';

export const RunStatus = z
  .enum(['waiting', 'queued', 'running', 'suspended', 'completed', 'failed', 'cancelled'])
  .openapi('RunStatus');

export const NewRun = z
  .strictObject({
    agent: z.string().min(1).max(200).openapi({ example: 'support' }),
    input: Content,
    context_ref: Id.optional().openapi({ description: 'The lane; default: the active one of the thread.' }),
    request_id: Id.optional().openapi({
      description: 'The same id again returns the same run; also as Idempotency-Key.',
    }),
    busy: z.enum(['reject', 'wait', 'interrupt']).optional().openapi({
      description:
        'On a thread with an active run: 409 `thread_busy` (default), wait in line, or cancel that run and go before all that wait.',
    }),
    model: z.string().min(1).max(10_000).optional().openapi({ description: 'Instead of the model of the agent.' }),
    ...overrides,
    tool_context: jsonObject('Merged over the tool context of agent and thread.').optional(),
    on_failure: z
      .enum(['keep', 'restore'])
      .optional()
      .openapi({ description: 'restore: after a failure the lane goes back to before the run.' }),
    extra_refs: jsonObject('Kept in the refs of the user message.').optional(),
    create_thread: z.boolean().optional().openapi({ description: 'Create the thread if it does not exist.' }),
  })
  .openapi('NewRun', { example: { agent: 'support', input: 'Where is my order?' } });

export const RunReceipt = z
  .object({ id: Id, thread_id: Id, request_id: Id, status: RunStatus, duplicate: z.boolean() })
  .openapi('RunReceipt', { description: 'The run is accepted and will end, whatever dies.' });

export const Run = z
  .object({
    id: Id,
    thread_id: Id,
    request_id: Id,
    agent: z.string(),
    strategy: z.string(),
    model: z.string(),
    context_ref: Id,
    status: RunStatus,
    termination_reason: z.string().nullable().openapi({ example: 'final_answer' }),
    iteration: count('Model calls so far.', 2),
    step: count('Commits so far.', 3),
    usage: anyJson('Token counters, or null.').openapi({
      example: { input_tokens: 18, output_tokens: 7, total_tokens: 25 },
    }),
    result: anyJson('The final answer.'),
    error: z.object({ type: z.string(), message: z.string() }).nullable(),
    resumed_from: Id.nullable().openapi({ description: 'The run whose checkpoint token it was started from.' }),
    awaiting: z
      .array(
        z.object({
          round: count('Tool round of the run, from 1.', 1),
          index: count('Place in the round, from 0.', 0),
          id: z.string().openapi({ description: 'Of the provider; it may repeat.' }),
          name: z.string(),
          arguments: anyJson('What the model asks for.'),
        }),
      )
      .openapi({ description: 'Tool calls a suspended run waits for: approve or deny each.' }),
    suspended_until: timestamp('When calls nobody has decided on are denied.').nullable(),
    created_at: timestamp('When it was accepted.'),
    started_at: timestamp('When a worker first took it.').nullable(),
    finished_at: timestamp('When it ended.').nullable(),
    duration_ms: z.number().nullable(),
  })
  .openapi('Run', { description: 'One request worked off by an agent.' });

const SnapshotCall = z
  .object({
    round: count('From 1.', 1),
    index: count('In its round, from 0.', 0),
    id: z.string().openapi({ description: 'Of the provider; it may repeat.' }),
    name: z.string(),
    arguments: anyJson('As the model gave them.'),
    status: z.string().openapi({ example: 'ok' }),
    result: anyJson('What the model was told; null while it is open.'),
    attempts: count('Executions.', 1),
    duration_ms: z.number().nullable(),
  })
  .openapi('RunToolCall');

export const RunSnapshot = z
  .object({
    ...Run.shape,
    phase: z
      .string()
      .nullable()
      .openapi({ description: 'What it waits for: `llm`, `tools`, `output`.', example: 'llm' }),
    call_id: z.string().nullable().openapi({ description: 'The model call under way, or the last one known.' }),
    max_iterations: z.number().nullable().openapi({ description: 'null where the API does not know the agent.' }),
    tools: z
      .array(z.string())
      .nullable()
      .openapi({ description: 'Names; null where the API does not know the agent.' }),
    tool_calls: z.array(SnapshotCall),
    queued_inputs: count('Inputs it has not taken yet.', 0),
    output: anyJson('How the answer met the output contract; null without one.'),
    details: anyJson('What the strategy reads from the answer besides the result, or null.'),
  })
  .openapi('RunSnapshot', { description: 'A run with what it is about.' });

export const RunPage = z
  .object({
    data: z.array(Run),
    next_before: Id.nullable().openapi({ description: 'Pass it as `before` for the next page; null on the last one.' }),
  })
  .openapi('RunPage');

export const CancelRun = z
  .strictObject({ reason: z.string().min(1).max(1_000).optional() })
  .openapi('CancelRun', { example: { reason: 'no longer needed' } });

export const CancelReceipt = z
  .object({
    id: Id,
    thread_id: Id,
    status: RunStatus,
    accepted: z.boolean().openapi({ description: 'false: the run had ended already.' }),
  })
  .openapi('CancelReceipt');

export const RunEvent = z
  .object({
    event_seq: count('Number in the thread, from 0 without gaps.', 12),
    run_id: Id,
    seq: count('Number in the run, from 1 without gaps.', 3),
    kind: z.string().openapi({ example: 'llm_completed' }),
    iteration: count('The model call it belongs to.', 1),
    data: jsonObject('`data.seq` names the entry it is about.'),
    at: timestamp('When it was committed.'),
  })
  .openapi('RunEvent', { description: 'An event of the trace.' });

export const RunEventPage = z
  .object({ data: z.array(RunEvent), next_after_seq: next('after_seq') })
  .openapi('RunEventPage');

export const ThreadEventPage = z
  .object({ data: z.array(RunEvent), next_after_event_seq: next('after_event_seq') })
  .openapi('ThreadEventPage');

import { z } from '@hono/zod-openapi';
import { lackingReasons } from '../../database/store/worker/find-lacking.ts';
import { cost, ModelCost } from './cost.ts';
import { RunId, RunRef, RunWait } from './run-ref.ts';
import { marks } from './mark.ts';
import { Usage } from './usage.ts';
import { Call, anyJson, count, Id, jsonObject, next, nextCursor, orNull, timestamp } from './values.ts';

export const RunStatus = z
  .enum(['waiting', 'queued', 'running', 'suspended', 'completed', 'failed', 'cancelled'])
  .openapi('RunStatus');

export const Run = z
  .object({
    id: RunId,
    thread_id: Id,
    request_id: RunId,
    agent: z.string(),
    agent_version: z.string().nullable().openapi({
      description:
        'The version of its agent that the worker which took it last has; null before a worker has taken it.',
    }),
    strategy: z.string(),
    model: z.string(),
    context_ref: Id,
    status: RunStatus,
    termination_reason: z.string().nullable().openapi({
      example: 'final_answer',
      description:
        'Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`.',
    }),
    finish_reason: z.string().nullable().openapi({
      example: 'stop',
      description:
        'Why the model stopped writing the answer with which the run ended; null if there is none, or the provider did not say.',
    }),
    truncated: z.boolean().openapi({
      description: 'The answer was cut: at the limit of output tokens (`length`) or by a filter (`content_filter`).',
      example: false,
    }),
    iteration: count('Iterations so far.', 2),
    step: count('Commits so far.', 3),
    usage: orNull(Usage).openapi({ description: 'Null if none are known.' }),
    other_usage: z.record(z.string(), Usage).nullable().openapi({
      description:
        'The part of `usage` spent on models other than `model`, by model, each with its `calls`; null: none.',
    }),
    result: anyJson(
      'The final answer, or the best result of a search; null until the run ends, and if it ended without one.',
    ),
    error: z
      .object({
        type: z.string(),
        message: z.string(),
        skipped: z.array(z.string()).optional().openapi({
          description: 'What could not be written at the end of the run: restore, operation, configuration, results.',
        }),
      })
      .nullable(),
    retry_of: orNull(Id).openapi({ description: 'The run that this one repeats.' }),
    resumed_from: orNull(Id).openapi({ description: 'The run whose checkpoint token started this one.' }),
    awaiting: z
      .array(
        z.object({
          call: Call,
          round: count('Tool round of the run, from 1.', 1),
          index: count('Position in the round, from 0.', 0),
          id: z.string().openapi({ description: 'Id assigned by the provider; not necessarily unique.' }),
          name: z.string(),
          arguments: anyJson('Arguments from the model.'),
        }),
      )
      .openapi({ description: 'Tool calls of a suspended run that wait for approval; approve or deny each.' }),
    waits: z.array(RunWait).openapi({ description: 'Everything that a suspended run waits for, approvals included.' }),
    parent: orNull(RunRef).openapi({ description: 'The run whose tool call started it.' }),
    suspended_until: timestamp('When the next wait ends by itself.').nullable(),
    agent_unknown_since: timestamp(
      'Since when the run has been waiting for a worker that knows its agent and strategy.',
    ).nullable(),
    priority: count('Priority of the job: 0 goes first, then lower numbers before higher ones.', 0),
    start_at: timestamp('No worker starts the run before this time.').nullable(),
    expires_at: timestamp('When the run fails with `expired` if no worker has started it.').nullable(),
    waiting_for: z
      .object({
        limit: z.string().openapi({ description: 'Its name.' }),
        since: timestamp('Since when it waits.'),
        owner: Id.optional().openapi({ description: 'The tenant that set it; absent: the operator.' }),
        key: z
          .string()
          .optional()
          .openapi({ description: 'The values of its scope that have an amount of their own.' }),
        until: timestamp('When it may let the run go on; absent if only the end of another run can tell.').optional(),
      })
      .nullable()
      .openapi({ description: 'The limit that a queued run waits for.' }),
    unknown_version: z.string().nullable().openapi({
      description: 'The version of its agent the run waits for, if workers know the agent but lack the version.',
    }),
    unknown_strategy: z.string().nullable().openapi({
      description: 'The strategy the run waits for, if workers know its agent but not the strategy.',
    }),
    unknown_tools: z.array(z.string()).nullable().openapi({
      description: 'The tools the run waits for, if workers know its agent but lack some that it needs.',
    }),
    created_at: timestamp('When the run was accepted.'),
    started_at: timestamp('When a worker first claimed it.').nullable(),
    finished_at: timestamp('When the run ended.').nullable(),
    duration_ms: z.number().nullable(),
  })
  .openapi('Run', { description: 'One request executed by an agent.' });

const SnapshotCall = z
  .object({
    call: Call,
    round: count('Tool round of the run, from 1.', 1),
    index: count('Position in the round, from 0.', 0),
    id: z.string().openapi({ description: 'Id assigned by the provider; not necessarily unique.' }),
    name: z.string(),
    arguments: anyJson('Arguments from the model.'),
    status: z.string().openapi({ example: 'ok' }),
    result: anyJson('The result as the model sees it; null while the call is open.'),
    attempts: count('Number of executions.', 1),
    duration_ms: z.number().nullable(),
  })
  .openapi('RunToolCall');

const question = z.string().nullable().openapi({
  description: 'The first 200 characters of the message that started the run; null if none did, as for a compaction.',
});

export const RunSnapshot = z
  .object({
    ...Run.shape,
    question,
    ...cost,
    cost_by_model: z.array(ModelCost).openapi({ description: 'What was spent on each model, with the price used.' }),
    selection: z
      .object({ strategy: z.string(), score: z.number(), task_type: z.string() })
      .nullable()
      .openapi({ description: 'What the strategy `adaptive` chose, and why.' }),
    phase: z
      .string()
      .nullable()
      .openapi({ description: 'What the run is waiting for: `llm`, `tools` or `output`.', example: 'llm' }),
    call_id: z.string().nullable().openapi({ description: 'The current model call, or else the last one known.' }),
    max_iterations: z
      .number()
      .nullable()
      .openapi({ description: 'Maximum iterations; null if this server does not know the agent.' }),
    tools: z
      .array(z.string())
      .nullable()
      .openapi({ description: 'Names of the tools; null if this server does not know the agent.' }),
    tool_calls: z.array(SnapshotCall),
    queued_inputs: count('Inputs the run has not read yet.', 0),
    worker: z
      .object({ id: z.string(), lease_until: timestamp('When its lease expires if it is not renewed.') })
      .nullable()
      .openapi({ description: 'The worker that holds the run, while it is running.' }),
    job: z.object({ queue: z.string(), id: z.string() }).openapi({
      description: 'The run’s latest job in BullMQ, which may have removed it.',
      example: { queue: 'lf-0', id: 'run_1.1' },
    }),
    unattended: z
      .object({
        reason: z.enum(lackingReasons),
        message: z.string(),
      })
      .nullable()
      .openapi({
        description:
          'Why no worker can take the run: none is alive, or no live worker knows its agent, version or strategy, or has its tools; null otherwise.',
      }),
    output: orNull(jsonObject('Outcome of the output contract; null if there is none.')),
    details: anyJson('What the strategy extracts from the answer besides the result; null: nothing.'),
  })
  .openapi('RunSnapshot', { description: 'A run with its current phase and tool calls.' });

export const ListedRun = z
  .object({ ...Run.shape, question, ...cost, marks: marks('Marks of the run, counted by kind;') })
  .openapi('ListedRun', { description: 'A run as lists show it.' });

export const RunPage = z
  .object({
    data: z.array(ListedRun),
    next_after: nextCursor,
  })
  .openapi('RunPage');

export const RunEvent = z
  .object({
    event_seq: count('Number in the thread, from 0, without gaps.', 12),
    run_id: Id,
    seq: count('Number in the run, from 1, without gaps.', 3),
    kind: z.string().openapi({ example: 'llm_completed' }),
    iteration: count('The iteration it belongs to.', 1),
    data: jsonObject('Depends on the kind; `data.seq` refers to an entry.'),
    at: timestamp('When the event was committed.'),
  })
  .openapi('RunEvent', { description: 'An event of the trace.' });

export const RunEventPage = z.object({ data: z.array(RunEvent), next_after: next }).openapi('RunEventPage');

import { z } from 'zod';
import {
  after,
  anyJson,
  count,
  date,
  Id,
  jsonObject,
  limit,
  named,
  orNull,
  typed,
  whole,
  text,
} from '../../../base/operations/schemas.ts';
import { MarkKind, marks } from '../trace/declaration.ts';

/*
 * What answers say of runs. `Run`, `RunRef` and `RunHandle` are written by hand beside this file, because the type of
 * their result is that of their agent; everything else about them is here.
 */

/** As `Id`, with a run's id as the example: by default a request has the same id. */
const RunId = z.string().meta({ example: 'run_01k7uumgdredk9mgulbgm9ll5m' });

/** A tool call of a run: its round, counted from 1, and its index in the round, counted from 0. */
export const Call = z
  .string()
  .regex(/^\d{1,4}\.\d{1,4}$/, 'Must be the round and index of the call, such as 1.0.')
  .meta({
    description: 'The name of the call: its round and index.',
    doc: 'Its name, for `runs.approve` and the like: round and index, such as `1.0`.',
    example: '1.0',
  });

/** A JSON value of which the library says that it is JSON. */
export const json = (description: string) => typed('Json', 'agent/context/message.ts', anyJson(description));

export const RunStatus = named(
  'RunStatus',
  z.enum(['waiting', 'queued', 'running', 'suspended', 'completed', 'failed', 'cancelled']).meta({}),
);

export const Usage = typed(
  'Usage',
  'agent/context/message.ts',
  named(
    'Usage',
    z
      .object({
        input_tokens: count('Tokens sent.', 18),
        output_tokens: count('Tokens received.', 7),
        total_tokens: count('Their sum.', 25),
      })
      .catchall(z.number())
      .meta({
        description:
          'Token counters. Where the provider counts them, also `cache_read_tokens` and `cache_write_tokens`, part of the input, ' +
          '`reasoning_tokens`, part of the output, and its own. Where it does not count, Lanefold estimates: `estimated_tokens` ' +
          'says how many of the total are estimates.',
        example: { input_tokens: 18, output_tokens: 7, total_tokens: 25 },
      }),
  ),
);

const ref = { threadId: Id, id: RunId };

export const RunRef = typed(
  'RunRef',
  'database/store/run/run-ref.ts',
  named('RunRef', z.object(ref).meta({ description: 'A run by its thread and id.' })),
);

/** A tool call by its place in the run. */
export const place = {
  call: Call,
  round: count('Tool round of the run, from 1.', 1),
  index: count('Position in the round, from 0.', 0),
};

const calledTool = {
  ...place,
  id: z.string().describe('Id assigned by the provider; not necessarily unique.'),
  name: z.string(),
  arguments: json('Arguments from the model.'),
};

export const RunWait = named(
  'RunWait',
  z
    .object({
      ...place,
      name: z.string().describe('The name of the tool.'),
      kind: z.enum(['approval', 'event', 'time', 'run']),
      event: orNull(Id).meta({ description: 'The event it waits for.', doc: 'The event it waits for, or null.' }),
      run: orNull(RunRef).meta({ description: 'The run it waits for.', doc: 'The run it waits for, or null.' }),
      since: date('Since when it waits.'),
      until: date('When it ends by itself; null: never.').nullable(),
    })
    .meta({
      description: 'A tool call that waits.',
      doc: 'A tool call that waits: for approval, an event, a time or the end of another run.',
    }),
);

/** What every answer about a run says, except its result. */
const run = {
  requestId: RunId,
  agent: z.string(),
  agentVersion: z
    .string()
    .nullable()
    .describe('The version of the agent on the worker that took the run last; null before a worker has taken the run.'),
  strategy: z.string(),
  model: z.string(),
  contextRef: Id,
  status: RunStatus,
  terminationReason: typed('TerminationReason', 'database/store/run/run-ref.ts', z.string()).nullable().meta({
    example: 'final_answer',
    description:
      'Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`.',
  }),
  finishReason: z.string().nullable().meta({
    example: 'stop',
    description:
      'Why the model stopped writing the answer with which the run ended; null if there is none, or the provider did not say.',
  }),
  truncated: z.boolean().meta({
    description: 'The answer was cut: at the limit of output tokens (`length`) or by a filter (`content_filter`).',
    example: false,
  }),
  answered: z
    .boolean()
    .nullable()
    .describe(
      'Whether the run ended with an answer: false if it failed, was cancelled, or a limit ended it before; null until it ends.',
    ),
  iteration: count('Iterations so far.', 2),
  step: count('Commits so far.', 3),
  usage: orNull(Usage).describe('Null if none are known.'),
  otherUsage: z
    .record(z.string(), Usage)
    .nullable()
    .meta({
      description:
        'The part of `usage` spent on models other than `model`, by model, each with its `calls`; null: none.',
      doc:
        'The part of `usage` spent on models other than `model`, by model, each with its `calls`. Usually null: only ' +
        'request transformers and handoffs change the model.',
    }),
  error: z
    .object({
      type: z.string(),
      message: z.string(),
      skipped: z
        .array(z.string())
        .optional()
        .describe('What could not be written at the end of the run: restore, operation, configuration, results.'),
    })
    .nullable(),
  retryOf: orNull(Id).describe('The run that this one repeats.'),
  resumedFrom: orNull(Id).describe('The run whose checkpoint token started this one.'),
  approvals: z
    .array(z.object(calledTool))
    .describe('Tool calls of a suspended run that wait for approval; approve or deny each.'),
  waits: z.array(RunWait).describe('Everything that a suspended run waits for, approvals included.'),
  parent: orNull(RunRef).describe('The run whose tool call started it.'),
  suspendedUntil: date('When the next wait ends by itself.').nullable(),
  agentUnknownSince: date('')
    .nullable()
    .meta({
      description: 'Since when the run has been waiting for a worker that knows its agent and strategy.',
      doc:
        'Since when the run has waited for a worker that knows its agent and strategy, and none was seen; null otherwise. ' +
        'Shortly after workers without the agent have moved the run, it may be set although such a worker exists.',
    }),
  priority: count('Priority of the job: 0 goes first, then lower numbers before higher ones.', 0),
  startAt: date('No worker starts the run before this time.').nullable(),
  expiresAt: date('When the run fails with `expired` if no worker has started it.').nullable(),
  limitedBy: z
    .object({
      limit: z.string().optional().describe('The name of the limit.'),
      circuit: z.string().optional().describe('The model whose circuit is open, if it waits for that.'),
      since: time('Since when it waits.'),
      owner: Id.optional().describe('The tenant that set it; absent: the operator.'),
      key: z.string().optional().describe('The values of its scope that have an amount of their own.'),
      until: time('When it may let the run continue; absent if only the end of another run can tell.').optional(),
    })
    .nullable()
    .describe('The limit that a queued run waits for, or the model whose circuit is open.'),
  unknownVersion: z
    .string()
    .nullable()
    .describe('The version of its agent that the run waits for, if workers know the agent but not this version.'),
  unknownStrategy: z
    .string()
    .nullable()
    .describe('The strategy that the run waits for, if workers know its agent but not the strategy.'),
  unknownTools: z
    .array(z.string())
    .nullable()
    .describe('The tools that the run waits for, if workers know its agent but not all of these tools.'),
  createdAt: date('When the run was accepted.'),
  startedAt: date('When a worker first claimed it.').nullable(),
  finishedAt: date('When the run ended.').nullable(),
  durationMs: z.number().nullable(),
};

/** A time that stays text in the library too: JSON has it that way. */
function time(description: string) {
  return z.string().meta({ format: 'date-time', description, example: '2026-11-21T10:15:30.123Z' });
}

export const RunState = z.object(run).meta({ doc: 'What is known of a run, except its result.' });

/** All fields of a run, in an answer. */
export const runFields = {
  ...ref,
  ...run,
  result: json(
    'The final answer, or the best result of a search; null until the run ends, and if it ended without one.',
  ),
};

export const AnyRun = typed(
  'Run',
  'database/store/run/run.ts',
  named('Run', z.object(runFields).meta({ description: 'One request executed by an agent.' })),
);

export const RunReceipt = typed(
  'RunHandle',
  'database/store/run/run.ts',
  named(
    'RunReceipt',
    z
      .object({ ...ref, requestId: RunId, status: RunStatus, duplicate: z.boolean() })
      .meta({ description: 'The run was accepted and will end, even if processes crash.' }),
  ),
);

export const RunCost = z
  .object({
    cost: z.number().nullable().meta({
      description:
        'In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price.',
      doc: 'In US dollars; null if no tokens went to a model whose price is known.',
      example: 0.0031,
    }),
    unpricedTokens: count('Tokens of models without a known price; `cost` does not include them.', 0),
  })
  .meta({ doc: 'The cost of model calls, at your own prices or the list prices of the providers.' });

export const asked = {
  question: z.string().nullable().meta({
    description: 'The first 200 characters of the message that started the run; null if none did, as for a compaction.',
  }),
};

export const ListedRun = named(
  'ListedRun',
  z
    .object({
      ...runFields,
      ...asked,
      ...RunCost.shape,
      marks: marks('the run'),
      children: count('How many runs its tool calls have started.', 0),
    })
    .meta({ description: 'A run as lists show it.' }),
);

export const RunToolCall = named(
  'RunToolCall',
  z.object({
    ...calledTool,
    status: z.string().meta({ example: 'ok' }),
    result: json('The result as the model sees it; null while the call is open.'),
    attempts: count('Number of executions.', 1),
    durationMs: z.number().nullable(),
  }),
);

export const TreeRun = named(
  'TreeRun',
  z
    .object({
      ...ref,
      agent: run.agent,
      model: run.model,
      contextRef: run.contextRef,
      status: run.status,
      terminationReason: run.terminationReason,
      iteration: run.iteration,
      error: run.error,
      depth: count('0 for the root.', 1),
      parent: orNull(
        z.object({
          ...ref,
          call: Call,
          round: count('Tool round of the call that started it.', 1),
          index: count('Position of the call in its round.', 0),
        }),
      ).describe('The call that started it; null for the root.'),
      usage: orNull(Usage),
      ...RunCost.shape,
      waits: z.array(RunWait),
      createdAt: date('When the run was accepted.'),
      startedAt: date('When a worker first claimed it.').nullable(),
      finishedAt: date('When the run ended.').nullable(),
    })
    .meta({ doc: 'A run with its place in a tree of runs.' }),
);

/** Text that a list is filtered by. */
export const word = (description: string) => text(400).optional().describe(description);

/** Filters by thread that runs and threads share; `what` is what is found. */
export const ofThreads = (what: string) => ({
  tenantId: Id.optional().describe(`${what} of this tenant.`),
  metadata: jsonObject(`${what} whose metadata contains this JSON object.`)
    .meta({ example: { customer: 7 } })
    .optional(),
  text: word(`${what} in which users wrote these words, as in a web search: \`refund -paid "order 42"\`.`),
});

/** What a run that has not ended may wait for; `agent`: the end of a run that a call has started. */
export const waitingFors = ['approval', 'event', 'time', 'agent', 'limit', 'worker', 'run', 'start_at'] as const;

/** Filters that runs and threads share; `what` has them. */
export const found = (what: string) => ({
  mark: MarkKind.optional().describe(`${what} with this mark.`),
  waitingFor: z
    .enum(waitingFors)
    .optional()
    .describe(
      `${what} that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.`,
    ),
});

export const RunFilter = z.object({
  threadId: Id.optional(),
  status: RunStatus.optional(),
  agent: word('Runs of this agent.'),
  version: word('Runs that this version of their agent took: `agentVersion`.'),
  ...found('A run'),
  ...ofThreads('Runs of threads'),
  answered: z.boolean().optional().describe('False: runs that ended without an answer.'),
  children: z.boolean().optional().describe('False: only runs that no tool call has started.'),
  model: word('Runs with this model.'),
  errorType: word('Failed runs with this error type.'),
  minTokens: whole(0).optional().describe('Runs that spent at least this many tokens.'),
  createdAfter: date('Runs accepted at this time or later.').optional(),
  createdBefore: date('Runs accepted before this time.').optional(),
  after,
  limit: limit(50),
});

/** What selects runs, without the page: for what is done to all of them. */
export const RunSelection = z.strictObject(RunFilter.shape).omit({ threadId: true, after: true, limit: true });

export const RunCounts = named(
  'RunCounts',
  z
    .object({
      since: date('All runs accepted since then were looked at; null: all runs.').nullable(),
      runs: count('Runs found.', 120),
      marks: z
        .array(z.object({ mark: z.string(), runs: z.int() }))
        .describe('How many of them have each mark; 0: only runs accepted before `since` have it.'),
      statuses: z.array(z.object({ status: RunStatus, runs: z.int() })),
      agents: z
        .array(z.object({ agent: z.string(), version: z.string().nullable(), runs: z.int() }))
        .describe('By agent and version.'),
    })
    .meta({ description: 'How many runs a filter finds, the most frequent first.' }),
);

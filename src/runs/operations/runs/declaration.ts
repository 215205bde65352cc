import { z } from 'zod';
import { Content } from '../../../agent/models/content-schema.ts';
import { optionFields } from '../../../agent/definition/options.ts';
import { idGrammar } from '../../../base/checks/ids.ts';
import { noun, type Operation } from '../../../base/operations/operation.ts';
import { Problem } from '../../../base/operations/problem.ts';
import {
  after,
  anyJson,
  count,
  date,
  Id,
  jsonObject,
  limit,
  named,
  numberedPage,
  ofRequests,
  orNull,
  pageOf,
  typed,
  whole,
} from '../../../base/operations/schemas.ts';
import * as store from '../../../database/store/run/declaration.ts';
import { InputReceipt, RunInput } from '../../../database/store/input/declaration.ts';
import { RunNode } from '../../../database/store/nodes/declaration.ts';
import { RunEvent, RunMark } from '../../../database/store/trace/declaration.ts';
import { DecisionReceipt, PendingApproval } from '../../../database/store/wait/declaration.ts';
import { lackingReasons } from '../../../database/store/worker/find-lacking.ts';

const { AnyRun, RunCost, RunStatus, RunReceipt, RunRef } = store;

/** A year. */
export const maxDelayMs = 31_536_000_000;
/** A hundred years. */
export const maxExpiryMs = 3_155_760_000_000;

/** Options of runs as fields of a body. An agent must list those that override it as overridable. */
const runOptionFields = optionFields({});

const requestId = Id.optional().meta({
  description: 'A second request with this id returns the same run. You can send the id as `Idempotency-Key` instead.',
});
const busy = z.enum(['reject', 'wait', 'interrupt']).optional();

export const RunRequest = z
  .object({
    contextRef: Id.optional().meta({
      description: 'The lane; default: the thread’s active lane.',
    }),
    requestId: requestId.meta({
      doc:
        'Repeating the id on the thread returns the same run. Without a `threadId` the thread’s id is derived from it, so it ' +
        'must be unique. Default: the run’s own id.',
    }),
    busy: busy.meta({
      description:
        'If the thread has an active run: `reject` (default) fails with 409 `thread_busy`, `wait` queues behind it, `interrupt` cancels it and goes first, which also needs the scope `steer`.',
      doc:
        'On a thread with an active run: `reject` (default), `wait` in line, or `interrupt`, which cancels that run, ends ' +
        'earlier interrupts that have not started, and goes ahead of every waiting run.',
    }),
    delayMs: whole(0, maxDelayMs)
      .optional()
      .describe('No worker starts the run before this delay. Meanwhile, the run keeps its thread busy.'),
    ttlMs: whole(1, maxDelayMs)
      .optional()
      .describe(
        'The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay.',
      ),
    extraRefs: jsonObject('Stored in the refs of the user message.').optional(),
    createThread: z.boolean().optional().describe('Create the thread if it does not exist.'),
  })
  .meta({ doc: 'The fields of a request beside agent, input and the options of runs.' });

const request = {
  agent: z.string().min(1).max(200).meta({ example: 'assistant' }),
  input: Content,
  ...RunRequest.shape,
  ...runOptionFields,
};
const asEnqueueOptions = <Schema extends z.ZodType>(schema: Schema) =>
  typed('EnqueueOptions', 'runs/operations/runs/enqueue-options.ts', schema);

export const NewRun = asEnqueueOptions(
  named(
    'NewRun',
    z
      .strictObject(request)
      .meta({ example: { agent: 'assistant', input: 'What is 12 * (3 + 4)?', createThread: true } }),
  ),
);

/** A run of a batch. */
export const BatchRun = asEnqueueOptions(
  named(
    'BatchRun',
    z.strictObject({ ...request, threadId: Id.optional().describe('Default: a new thread.') }).meta({
      example: { threadId: 'orders-42', agent: 'assistant', input: 'What is 12 * (3 + 4)?', createThread: true },
    }),
  ),
);

/** Each run is validated separately, so that an invalid one does not affect the others. */
const NewRuns = named(
  'NewRuns',
  z
    .strictObject({
      runs: z
        .array(z.unknown().meta({ allOf: [{ $ref: '#/components/schemas/BatchRun' }] }))
        .min(1)
        .max(1_000),
    })
    .meta({
      example: {
        runs: [
          { agent: 'assistant', input: 'What is 12 * (3 + 4)?' },
          { agent: 'assistant', input: 'And 7 * 8?', delay_ms: 60_000, priority: 10 },
        ],
      },
    }),
);

const RunReceipts = named(
  'RunReceipts',
  z
    .object({
      data: z.array(
        z.object({
          run: RunReceipt.optional(),
          problem: Problem.optional().describe('Why the run was not accepted.'),
        }),
      ),
    })
    .meta({ description: 'One answer per run, in the order of the request.' }),
);

const ModelCost = named(
  'ModelCost',
  z
    .object({
      model: z.string().meta({ example: 'openai:gpt-4o' }),
      inputTokens: count('Tokens of input, including tokens from the provider’s cache.', 1_200),
      outputTokens: count('Tokens of output.', 80),
      cachedTokens: count('Tokens of input read from the cache.', 1_024),
      writtenTokens: count('Tokens of input written to the cache.', 0),
      cost: orNull(z.number()).meta({
        description: 'In US dollars; null if the price is unknown.',
        example: 0.0031,
      }),
      price: orNull(z.enum(['own', 'list'])).describe(
        'The price that was used: the server’s own, or the list price of the day the run was accepted.',
      ),
      perMillion: orNull(
        typed(
          'TokenRates',
          'agent/models/catalog.ts',
          z.object({
            input: z.number().optional(),
            output: z.number().optional(),
            cacheRead: z.number().optional(),
            cacheWrite: z.number().optional(),
          }),
        ),
      ).meta({
        description: 'The list price per million tokens, without rates that depend on the length of a request.',
        example: { input: 2.5, output: 10, cacheRead: 1.25 },
      }),
    })
    .meta({ doc: 'What a run has spent on one model, as the provider reports it, and the price that was used.' }),
);
export { ModelCost };

const snapshot = {
  ...store.asked,
  ...RunCost.shape,
  costByModel: z.array(ModelCost).describe('What was spent on each model, with the price used.'),
  selection: z
    .object({ strategy: z.string(), score: z.number(), task_type: z.string() })
    .nullable()
    .describe('What the strategy `adaptive` chose, and why.'),
  phase: z
    .string()
    .nullable()
    .meta({ description: 'What the run is waiting for: `llm`, `tools` or `output`.', example: 'llm' }),
  callId: z.string().nullable().describe('The current model call, or otherwise the last known model call.'),
  maxIterations: z.number().nullable().describe('Maximum iterations; null if this server does not know the agent.'),
  tools: z.array(z.string()).nullable().describe('Names of the tools; null if this server does not know the agent.'),
  toolCalls: z.array(store.RunToolCall),
  queuedInputs: count('Inputs the run has not read yet.', 0),
  worker: z
    .object({ id: z.string(), leaseUntil: date('When its lease expires if it is not renewed.') })
    .nullable()
    .describe('The worker that holds the run, while it is running.'),
  job: z.object({ queue: z.string(), id: z.string() }).meta({
    description: 'The run’s latest job in BullMQ, which may have removed it.',
    example: { queue: 'lf-0', id: 'run_1.1' },
  }),
  unattended: z
    .object({ reason: z.enum(lackingReasons), message: z.string() })
    .nullable()
    .meta({
      description:
        'Why no worker can take the run: none is alive, or no live worker knows its agent, version or strategy, or has its tools; null otherwise.',
    }),
  output: orNull(jsonObject('Outcome of the output contract; null if there is none.')),
  details: typed(
    'JsonObject',
    'agent/context/message.ts',
    anyJson('What the strategy extracts from the answer besides the result; null: nothing.'),
  ).nullable(),
};

export const SnapshotState = z
  .object(snapshot)
  .meta({ doc: 'The fields that a snapshot has beside the fields of the run.' });

const RunSnapshot = typed(
  'RunSnapshot',
  'runs/operations/runs/run-snapshot.ts',
  named(
    'RunSnapshot',
    z.object({ ...store.runFields, ...snapshot }).meta({ description: 'A run with its current phase and tool calls.' }),
  ),
);

export const RunTree = named(
  'RunTree',
  z
    .object({
      root: RunRef,
      runs: z
        .array(store.TreeRun)
        .describe('Each run is followed by the runs that its tool calls started, in order of time.'),
      usage: orNull(store.Usage).describe('The sum over all runs of the tree.'),
      ...RunCost.shape,
    })
    .meta({
      description:
        'A run with all runs below it: those that its tool calls have started, and those that these runs have started in turn.',
    }),
);

const { threadId, ...filter } = store.RunFilter.shape;
const { after: _after, limit: _limit, ...counted } = filter;

const caller = z.string().optional().describe('Who starts it; `unfinished` counts runs by caller.');

const freshChildren = z
  .boolean()
  .optional()
  .describe(
    'True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has asked it ' +
      'gets the answer that the agent gave then.',
  );

const RetryRun = named(
  'RetryRun',
  z
    .strictObject({
      requestId: Id.optional().describe('A second request with this id returns the same run.'),
      busy: busy.describe('As for a new run.'),
      freshChildren,
    })
    .meta({ example: { busy: 'wait' } }),
);

const Rerun = named(
  'Rerun',
  z
    .strictObject({
      threadId: Id.optional().describe('Id of the fork; default: a generated id.'),
      version: runOptionFields.version,
      model: z.string().min(1).max(10_000).optional().describe('Overrides the model of the run.'),
      systemPrompt: z
        .string()
        .nullable()
        .optional()
        .describe('Overrides the prompt of the lane. Every agent must list `systemPrompt` as overridable.'),
      contextPolicy: runOptionFields.contextPolicy,
      freshChildren,
      metadata: jsonObject('Your own data, stored with the fork.').optional(),
      requestId: Id.optional().describe('A second request with this id returns the same run.'),
    })
    .meta({ example: { model: 'anthropic:claude-sonnet-4-5' } }),
);

const reason = z.string().min(1).max(1_000).optional();

const CancelReceipt = named(
  'CancelReceipt',
  z.object({
    id: Id,
    threadId: Id,
    status: RunStatus,
    accepted: z.boolean().describe('false: the run had already ended.'),
  }),
);

/** The fields of an act on all runs that a filter selects. */
export const bulk = {
  filter: store.RunSelection.meta({
    description:
      'The runs: the filter of the list. An act needs `created_before`, the moment of its preview: it takes the runs that were accepted before.',
    doc:
      'The runs: the filter of `runs.list`. An act needs `createdBefore`, the moment of its preview: it takes the runs that were ' +
      'accepted before.',
    example: { status: 'failed', agent: 'support', createdBefore: new Date('2026-11-21T10:15:30.123Z') },
  }),
  dryRun: z.boolean().optional().describe('A preview: counts the runs, shows the first few, and changes nothing.'),
  limit: whole(1, 1_000).optional().describe('Maximum number of runs to act on; default 100.'),
  after,
};

export const BulkReceipt = named(
  'BulkReceipt',
  z
    .object({
      dryRun: z.boolean(),
      createdBefore: date('The moment of the preview: pass it in the filter of the act.'),
      matched: count('How many of the selected runs the act concerns; counted up to 10,000.', 120),
      runs: z
        .array(
          z.object({
            ...store.RunRef.shape,
            agent: z.string(),
            status: RunStatus.describe('The status in which the run was found.'),
            createdAt: date('When the run was accepted.'),
            outcome: orNull(z.enum(['done', 'unchanged', 'refused'])).describe(
              '`unchanged`: it was done before, or there was nothing to do. Null in a preview.',
            ),
            started: Id.optional().describe('The run that repeats it.'),
            caseId: Id.optional().describe('The case that it is kept as.'),
            error: z
              .object({ code: z.string(), message: z.string() })
              .optional()
              .describe('Why it was refused: the error that the act on it alone would have had.'),
          }),
        )
        .describe('What became of each run; in a preview, the first few.'),
      left: count('How many runs are left to act on; counted up to 10,000.', 20),
      nextAfter: orNull(z.string()).describe('Pass it as `after` to act on the runs that are left; null: none are.'),
    })
    .meta({ doc: 'What became of runs that a filter selects.' }),
);

const bulkExample = { filter: { status: 'suspended', createdBefore: new Date('2026-11-21T10:15:30.123Z') } };

const many = (kind: string, summary: string, description: string) => ({
  id: `${kind}Runs`,
  route: `POST /v1/runs/${kind}-many` as const,
  client: true as const,
  summary,
  description: `${description} Each run has an outcome: one that is refused stops no other.`,
  bodyIs: 'options' as const,
  positional: ['filter'],
  answer: { description: 'What became of the runs.', schema: BulkReceipt },
  errors: ['invalid_input'] as const,
});

const NewInput = named(
  'NewInput',
  z
    .strictObject({
      // Not validated here: the library rejects invalid input with a reason.
      content: typed(
        'ContentInput',
        'agent/models/accept-content.ts',
        z
          .custom<unknown>((value) => value !== undefined, 'Required.')
          .meta({
            type: ['string', 'array'],
            items: { $ref: '#/components/schemas/ContentPart' },
            description: 'Text, which is trimmed, or content parts.',
          }),
      ),
      role: z
        .any()
        .optional()
        .meta({ type: 'string', enum: ['user'], description: 'Input always has the role user.' }),
      by: z.string().min(1).max(200).optional().describe('Who sent it, for the log.'),
      extraRefs: jsonObject('Stored in the refs of the message; up to 64 KiB.').optional(),
      expectedRequestId: Id.optional().describe('Reject the input unless the run of this request is active.'),
      inputId: Id.optional().describe(
        'A second request with this id does not repeat the input. You can send the id as `Idempotency-Key` instead.',
      ),
    })
    .meta({ example: { content: 'And keep it short.' } }),
);

const said = (description: string) => z.string().min(1).max(1_000).optional().describe(description);

const Decision = named(
  'Decision',
  z
    .strictObject({
      reason: said('Reason for the decision; the model sees the reason for a denial.'),
      by: said('Who made the decision.'),
    })
    .meta({ example: { by: 'ada', reason: 'over the limit' } }),
);

const token = z
  .string()
  .max(10_000)
  .describe('Signed, not encrypted. It names a run and its step, and contains nothing from the conversation.');
const example = 'rt2.eyJ2IjoyfQ.c2lnbmF0dXJl';

const NewCheckpoint = named(
  'NewCheckpoint',
  z
    .strictObject({
      expiresInMs: whole(1, maxExpiryMs)
        .nullable()
        .optional()
        .describe('Lifetime of the token; default: 30 days. null: unlimited.'),
    })
    .meta({ example: { expiresInMs: 86_400_000 } }),
);

export const MintedToken = named(
  'Checkpoint',
  z
    .object({
      token,
      threadId: Id,
      runId: Id,
      step: count('The step the token refers to.', 3),
      expiresAt: date('When the token expires; null: never.').nullable(),
    })
    .meta({ description: 'A token for a step of a run.' }),
);

const Resume = named(
  'Resume',
  z
    .strictObject({
      token,
      query: Content.optional().describe('A new user message; starts a new run on the same lane.'),
      requestId: Id.optional().describe(
        'With `query`: repeating the id returns the same run. Or send it as `Idempotency-Key`.',
      ),
    })
    .meta({ example: { token: example, query: 'And the second one?' } }),
);

const Collect = named('Collect', z.strictObject({ token }).meta({ example: { token: example } }));
const CancelByToken = named(
  'CancelByToken',
  z.strictObject({ token, reason }).meta({ example: { token: example, reason: 'no longer needed' } }),
);

const RunPage = pageOf('RunPage', store.ListedRun);
const location = z.string().describe('URL of the run.');
const ofRun = '/v1/threads/{thread_id}/runs/{run_id}' as const;
const tokenErrors = ['run_not_found', 'token_stale', 'token_expired', 'missing_token_secret'] as const;

/** How a list by number is paged: its method lists items, and the API pages of them. */
const ordinals = (what: string) => ({
  after: whole(0, 2_147_483_647).optional().describe(`Return ${what}: the \`next_after\` of the previous page.`),
  limit: ofRequests(whole(1, 1_000)).optional().describe('Maximum number of items; default 100.'),
});

const accepted = { status: 202, description: 'The run was accepted.', schema: RunReceipt, replays: true } as const;

const input = (kind: 'steer' | 'inject', summary: string, doc: string): Operation => ({
  id: `${kind}Run`,
  route: `POST ${ofRun}/${kind}`,
  scope: 'steer',
  client: true,
  summary,
  description:
    'Accepted input becomes a user message before the next model call; a run that was about to end continues with it instead.',
  doc,
  orThread: true,
  body: NewInput,
  bodyIs: 'options',
  positional: ['content'],
  idempotencyKey: 'inputId',
  answer: { status: 202, description: 'The run accepted the input.', schema: InputReceipt, replays: true },
  errors: [
    ...(['run_not_found', 'no_active_run', 'other_run_active', 'run_ending', 'not_steerable', 'queue_full'] as const),
    ...(['empty_content', 'input_too_large', 'context_too_large', 'idempotency_mismatch', 'thread_erased'] as const),
  ],
});

const decide = (word: 'approve' | 'deny', summary: string, doc: string): Operation => ({
  id: `${word}ToolCall`,
  route: `POST ${ofRun}/tool-calls/{call}/${word}`,
  scope: 'approve',
  audit: 'decide_tool_call',
  client: true,
  summary,
  description:
    'The first decision counts: repeating it returns the same decision; the opposite decision fails with 409 ' +
    '`already_decided`. The run continues once every call of the round is decided.',
  doc,
  params: { call: store.Call },
  body: Decision,
  bodyIs: 'options',
  answer: { description: 'The decision.', schema: DecisionReceipt },
  errors: ['already_decided', 'not_awaiting_approval', 'tool_call_not_found', 'run_not_found', 'thread_erased'],
});

const switched = z.enum(['true', 'false']).optional();
const cursor = z.string().max(60_000).optional();

export const eventsAnswer = {
  description:
    'A page of events, or a stream. A stream sends trace events, each named by its kind and with its `event_seq` as `id`. ' +
    'It also sends messages without an id: `llm_delta` {run_id, llm_call_id, offset, text or thinking}, `llm_snapshot` ' +
    '{run_id, llm_call_id, text, thinking}, and, if nothing happens because no worker can take the run, `unattended` ' +
    '{thread_id, run_id, agent, reason, message}. With `wait`, `exists` {thread_id, run_id} comes first. The stream of a run ends after its last event; the stream of a thread ' +
    'does not end. Once the key no longer allows a stream, the stream ends with `problem`, also without an id.',
  schema: numberedPage('RunEventPage', RunEvent),
  content: {
    'text/event-stream': {
      schema: z.string().meta({ example: 'event: llm_started\nid: 1\ndata: {"event_seq":1}\n\n' }),
    },
  },
  also: { 204: { description: 'The stream has ended: do not reconnect.' } },
};

export const lastEventId = z
  .string()
  .regex(/^\d{0,15}$/, 'Must be the event_seq of an event of this stream.')
  .optional()
  .describe('Streams only: resume after this event. Browsers send it automatically.');

/** How the events of a run or a thread are read or followed, over HTTP. */
export const eventQuery = {
  limit: limit(100),
  format: z
    .enum(['json', 'sse', 'ui'])
    .optional()
    .describe(
      '`json`: a page. `sse`: a live stream of server-sent events, also selected by `Accept: text/event-stream`. `ui`: the ' +
        'AI SDK’s UI message stream of the run, or of the thread’s active run.',
    ),
  after: whole(-1).optional().describe('Return events after this event_seq: the `next_after` of the previous page.'),
  deltas: switched.describe('Streams only: include answers while they are generated; default true.'),
  entries: switched.describe(
    'Streams only: add `entry` to each event about an entry, with the payload of that entry. Not for browser tokens.',
  ),
  wait: switched.describe(
    'Server-sent events only: if the thread or run does not exist yet, wait for it instead of answering 404. The first ' +
      'message is `exists`.',
  ),
};

export const runs = noun(
  'runs',
  'Runs',
  {
    enqueue: {
      id: 'createRun',
      route: 'POST /v1/threads/{thread_id}/runs',
      scope: 'run',
      client: true,
      byHand: true,
      summary: 'Enqueue a run',
      description: 'Returns immediately; a worker executes the run. Read the run at `Location`.',
      headers: {
        traceparent: z.string().optional().meta({
          description: 'W3C Trace Context: the first claim of the run continues this trace. Ignored if malformed.',
          example: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        }),
      },
      body: NewRun,
      idempotencyKey: 'requestId',
      answer: { ...accepted, headers: { Location: location } },
      errors: ['thread_not_found', 'thread_busy', 'thread_erased', 'unknown_agent'],
    },
    enqueueMany: {
      id: 'createRuns',
      route: 'POST /v1/runs',
      scope: 'run',
      client: true,
      byHand: true,
      summary: 'Enqueue many runs',
      description:
        'Each run gets a separate answer: an invalid run does not affect the others. If the server fails on every run, the request fails. Under a limit on runs, all valid runs must fit, including those that repeat a request. Requires a key that is not bound to threads or agents.',
      body: NewRuns,
      answer: { status: 202, description: 'One answer per run, in order.', schema: RunReceipts },
    },
    list: {
      id: 'listAllRuns',
      route: 'GET /v1/runs',
      scope: 'read',
      client: true,
      summary: 'List the runs of all threads, newest first',
      doc: 'Runs, newest first: of one thread, or over all threads.',
      query: filter,
      own: { threadId },
      answer: { description: 'A page of runs.', schema: RunPage },
    },
    counts: {
      id: 'countRuns',
      route: 'GET /v1/runs/counts',
      scope: 'read',
      client: true,
      summary: 'Count the runs that a filter finds, by mark, status, agent and version',
      doc: 'Counts the runs that a filter finds: at most the newest 5,000.',
      query: counted,
      own: { threadId },
      answer: { description: 'The counts.', schema: store.RunCounts },
    },
    get: {
      id: 'getRun',
      route: `GET ${ofRun}`,
      scope: 'read',
      client: true,
      byHand: true,
      summary: 'Read a run: status, result, usage, tool calls',
      answer: { description: 'The run.', schema: RunSnapshot },
      errors: ['run_not_found'],
    },
    tree: {
      id: 'getTree',
      route: `GET ${ofRun}/tree`,
      scope: 'read',
      client: true,
      summary: 'Read the tree of runs that a run belongs to',
      description: 'The root, and the runs that tool calls have started, with their states, costs and waits.',
      answer: { description: 'The tree.', schema: RunTree },
      errors: ['run_not_found', 'thread_erased'],
    },
    cancel: {
      id: 'cancelRun',
      route: `POST ${ofRun}/cancel`,
      scope: 'steer',
      audit: 'cancel_run',
      client: true,
      byHand: true,
      summary: 'Cancel a run; no effect if it has ended',
      body: named('CancelRun', z.strictObject({ reason }).meta({ example: { reason: 'no longer needed' } })),
      bodyIs: 'options',
      answer: { description: 'The current status.', schema: CancelReceipt },
      errors: ['run_not_found', 'thread_erased'],
    },
    retry: {
      id: 'retryRun',
      route: `POST ${ofRun}/retry`,
      scope: 'run',
      client: true,
      result: true,
      summary: 'Ask an ended run’s question again on its own lane',
      description: 'Enqueues a new run of the same agent with the same input and options, on the lane as it is now.',
      doc:
        'Repeats a run that has ended: a new run of the same agent with the same input and options, linked by `retryOf`, on ' +
        'the same lane as it is now. If a failed run should leave its lane as it was before, enqueue it with ' +
        "`onFailure: 'rewind'`. A compaction cannot be repeated, nor a run that never began and whose trace was dropped.",
      body: RetryRun,
      bodyIs: 'options',
      idempotencyKey: 'requestId',
      own: {
        model: typed('ModelName', 'agent/models/providers.ts', z.string())
          .optional()
          .describe('Replaces the model of the run.'),
        caller,
      },
      answer: accepted,
      errors: [
        ...(['run_active', 'run_not_found', 'unknown_agent', 'unknown_model', 'thread_busy'] as const),
        ...(['thread_erased', 'idempotency_mismatch', 'invalid_input'] as const),
      ],
    },
    cancelMany: {
      ...many(
        'cancel',
        'Cancel the runs that a filter selects',
        'Runs that have ended are left out. Repeating the request cancels no run twice.',
      ),
      scope: 'steer',
      audit: 'cancel_run',
      body: named(
        'CancelRuns',
        z.strictObject({ ...bulk, reason }).meta({ example: { ...bulkExample, reason: 'outage' } }),
      ),
    },
    retryMany: {
      ...many(
        'retry',
        'Ask the questions of the ended runs that a filter selects again',
        'Runs that have not ended are left out. Repeating the request with its `request_id` starts no run twice.',
      ),
      scope: 'run',
      audit: 'enqueue_run',
      body: named(
        'RetryRuns',
        z
          .strictObject({
            ...bulk,
            requestId: Id.optional().describe('Repeating the id repeats the request of each run.'),
            busy: z.enum(['reject', 'wait']).optional().describe('As for a new run.'),
            freshChildren,
          })
          .meta({ example: { ...bulkExample, busy: 'wait' } }),
      ),
      idempotencyKey: 'requestId',
      own: { caller },
    },
    releaseMany: {
      ...many(
        'release',
        'Let the suspended runs that a filter selects continue',
        'Resolves the calls that wait for an event or a time, and decides those that wait for approval if `decision` is given, which also ' +
          'needs the scope `approve`. Calls that began to wait after the preview are left alone, and so are those that wait for another run.',
      ),
      scope: 'steer',
      audit: ['end_wait', 'decide_tool_call'],
      body: named(
        'ReleaseRuns',
        z
          .strictObject({
            ...bulk,
            decision: z
              .enum(['approve', 'deny'])
              .optional()
              .describe('For calls that wait for approval; default: they go on waiting.'),
            reason: said('Reason for the decision; the model sees the reason for a denial.'),
            result: z
              .unknown()
              .optional()
              .describe('The result of calls that wait for an event or a time; default null.'),
            error: z.string().min(1).max(2_000).optional().describe('These calls fail with this message instead.'),
            by: said('Who releases them.'),
          })
          .meta({ example: { ...bulkExample, result: { paid: true } } }),
      ),
    },
    rerun: {
      id: 'rerunRun',
      route: `POST ${ofRun}/rerun`,
      scope: 'run',
      audit: 'enqueue_run',
      client: true,
      result: true,
      summary: 'Ask a run’s question again, on a fork of its lane as the lane was then',
      description:
        'Uses another model, prompt or policy if given and if the agent lists it as overridable. A prompt applies to the fork, on which any agent may run, so every agent of the server must list it. The key must also allow the id of the fork.',
      doc:
        'Asks the question of a run again, on a fork of its lane as it was before the question, with another model, prompt ' +
        'or policy, so that the answers can be compared: see `contexts.diff`. The thread of the run stays as it is; the new ' +
        'run is on the fork. `thread_exists` also for a fork on which something else was asked, `invalid_input` for a run ' +
        'that has not begun.\n\n@example\n' +
        "const other = await lanefold.runs.rerun(run, { model: 'anthropic:claude-sonnet-4-5' });",
      body: Rerun,
      bodyIs: 'options',
      idempotencyKey: 'requestId',
      own: {
        caller,
        from: z
          .enum(['library', 'http'])
          .optional()
          .describe('`http`: only what the agent lists for callers over HTTP may be overridden.'),
      },
      answer: accepted,
      errors: [
        ...(['run_not_found', 'unknown_agent', 'unknown_model', 'invalid_policy', 'override_not_allowed'] as const),
        ...(['thread_exists', 'thread_erased', 'idempotency_mismatch', 'invalid_input'] as const),
      ],
    },
    steer: input(
      'steer',
      'Send user input to an active run',
      'Sends a human’s message to a run, or to the active run of a thread, without starting a run. For a program’s message, ' +
        'see `inject`. If it is not accepted, nothing is queued.',
    ),
    inject: input(
      'inject',
      'Send input from a program to an active run',
      'Like `steer`, for a message that a program sends.',
    ),
    inputs: {
      id: 'listInputs',
      route: `GET ${ofRun}/inputs`,
      scope: 'read',
      client: true,
      summary: 'List the inputs of a run and their status',
      doc: 'The inputs a run accepted through `steer` and `inject`, in order, with their state.',
      query: ordinals('inputs after this ordinal'),
      returns: z.array(RunInput),
      answer: { description: 'A page of inputs.', schema: numberedPage('InputPage', RunInput) },
      errors: ['run_not_found'],
    },
    approve: decide(
      'approve',
      'Approve a pending tool call',
      'Approves a tool call that a suspended run waits for; `call` is its name, such as `1.0`, in `approvals` of the run. The ' +
        'first decision counts: repeating it returns the same receipt. The run resumes once every call of its round is decided.',
    ),
    deny: decide(
      'deny',
      'Deny a pending tool call',
      'Like `approve`, but the call is not made, and the model sees a denial.',
    ),
    nodes: {
      id: 'listNodes',
      route: `GET ${ofRun}/nodes`,
      scope: 'read',
      client: true,
      summary: 'List the findings of a run’s strategy: its answers and thoughts',
      description: 'Empty for `react`, `cot` and `cod`, whose answers are in the log.',
      query: ordinals('nodes after this one'),
      returns: z.array(RunNode),
      answer: {
        description: 'A page of nodes.',
        schema: named('RunNodePage', numberedPage('RunNodePage', RunNode).meta({ description: 'A page of nodes.' })),
      },
      errors: ['run_not_found', 'thread_erased'],
    },
    events: {
      id: 'listRunEvents',
      route: `GET ${ofRun}/events`,
      tag: 'Events',
      scope: 'read',
      client: true,
      byHand: true,
      summary: 'Read the trace of a run, or follow it live',
      headers: {
        'Last-Event-ID': lastEventId,
      },
      query: eventQuery,
      answer: eventsAnswer,
      errors: ['run_not_found', 'thread_erased'],
    },
    streamTree: {
      id: 'streamTree',
      route: `GET ${ofRun}/tree/events`,
      tag: 'Events',
      scope: 'read',
      about: 'across',
      byHand: true,
      summary: 'Follow a run, and the runs that its tool calls start, live',
      description: 'A key that is limited to threads or agents cannot follow a tree, because any agent may be in it.',
      headers: {
        'Last-Event-ID': cursor.describe('Resumes after this message. Browsers send it by themselves.'),
      },
      query: {
        after: cursor.describe('Resumes after the message with this `id`.'),
        deltas: switched.describe('Answers while they are generated; default true.'),
        entries: switched.describe('Add `entry` to each event about an entry, with the payload of that entry.'),
      },
      answer: {
        description:
          'Server-sent events as in the stream of a run, each with the `thread_id` and `run_id` of its run. The events of a run ' +
          'come in order. The `id` of an event resumes the whole stream after it. The stream ends once all runs have ended.',
        content: {
          'text/event-stream': {
            schema: z.string().meta({ example: 'event: llm_started\nid: W1sidGhyZWFkXzE\ndata: {"event_seq":1}\n\n' }),
          },
        },
        also: { 204: { description: 'The stream has ended: do not reconnect.' } },
      },
      errors: ['run_not_found', 'thread_erased'],
    },
    checkpoint: {
      id: 'createCheckpoint',
      route: `POST ${ofRun}/checkpoint`,
      scope: 'run',
      client: true,
      summary: 'Create a checkpoint token for the current step of a run',
      doc:
        'Mints a token for the current step of a run. It works for 30 days unless `expiresInMs` says otherwise; null: for ' +
        'ever. `token_stale` for a cancelled run.',
      body: NewCheckpoint,
      bodyIs: 'options',
      answer: { description: 'The token.', schema: MintedToken },
      errors: ['missing_token_secret', 'run_not_found', 'unknown_agent', 'token_stale'],
    },
    resume: {
      id: 'resumeRun',
      route: 'POST /v1/runs/resume',
      scope: 'run',
      client: true,
      summary: 'Resume from a checkpoint token',
      description:
        'An unfinished run that no worker holds is queued again. If the run has ended, returns its result. ' +
        'With `query`, starts a new run on the same lane.',
      doc:
        'Resumes from a token. An unfinished run without a worker is queued again; an ended run is returned with its result; ' +
        'with a `query`, a new run asks it on the same lane. `run_active` while a worker holds the run, `token_stale` where ' +
        'it has advanced or was cancelled; an invalid token throws the code of the check it fails (docs/reference/checkpoints.md).',
      body: Resume,
      bodyIs: 'options',
      positional: ['token'],
      idempotencyKey: 'requestId',
      own: { caller },
      answer: {
        description: 'The run has ended.',
        schema: AnyRun,
        also: {
          202: {
            description: 'The run continues, or a new run was accepted.',
            schema: AnyRun,
            headers: { Location: location },
          },
        },
      },
      errors: ['run_active', ...tokenErrors],
    },
    collect: {
      id: 'collectRun',
      route: 'POST /v1/runs/collect',
      scope: 'read',
      client: true,
      byHand: true,
      summary: 'Read the run of a checkpoint token, without resuming it',
      body: Collect,
      bodyIs: 'options',
      answer: { description: 'The run.', schema: AnyRun },
      errors: tokenErrors,
    },
  },
  {
    listRuns: {
      id: 'listRuns',
      route: 'GET /v1/threads/{thread_id}/runs',
      scope: 'read',
      client: true,
      summary: 'List the runs of a thread, newest first',
      query: filter,
      answer: { description: 'A page of runs.', schema: RunPage },
      errors: ['thread_not_found', 'thread_erased'],
    },
    listMarks: {
      id: 'listMarks',
      route: 'GET /v1/threads/{thread_id}/marks',
      scope: 'read',
      summary: 'List the marks of some runs of a thread: places that are worth a look',
      description:
        'Failed and retried tools, retried model calls, cuts, missed caches, overridden models, steering, changed prompts, ' +
        'compactions and others, each with its entry and model call.',
      query: {
        runIds: z
          .string()
          .max(13_000)
          .refine(areIds, 'Not the id of a run.')
          .describe('Comma-separated ids of at most 100 runs of the thread.'),
      },
      answer: {
        description: 'The marks, in the order of the log.',
        schema: z.array(RunMark),
      },
      errors: ['thread_not_found', 'thread_erased'],
    },
    cancelByToken: {
      id: 'cancelByToken',
      route: 'POST /v1/runs/cancel',
      scope: 'steer',
      audit: 'cancel_run',
      client: true,
      summary: 'Cancel the run of a checkpoint token',
      body: CancelByToken,
      bodyIs: 'options',
      answer: { description: 'The current status.', schema: CancelReceipt },
      errors: tokenErrors,
    },
  },
);

function areIds(text: string): boolean {
  const ids = text.split(',');
  return ids.length <= 100 && ids.every((id) => idGrammar.test(id));
}

export const approvals = noun('approvals', 'Runs', {
  list: {
    id: 'listApprovals',
    route: 'GET /v1/approvals',
    scope: 'read',
    client: true,
    summary: 'List the tool calls of all threads that wait for approval, soonest to expire first',
    query: { after, limit: limit(50) },
    answer: { description: 'A page of calls.', schema: pageOf('ApprovalPage', PendingApproval) },
  },
});

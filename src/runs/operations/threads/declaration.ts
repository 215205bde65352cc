import { z } from 'zod';
import { Message } from '../../../agent/models/message-schema.ts';
import { PolicyOption } from '../../../agent/policy/declaration.ts';
import { noun } from '../../../base/operations/operation.ts';
import {
  after,
  atSeq,
  count,
  from,
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
import {
  AppendReceipt,
  ContentRange,
  ForkReceipt,
  RecordedSummary,
  RecordedThread,
  ThreadEntry,
  ThreadFilter,
} from '../../../database/store/log/declaration.ts';
import { ConfigReceipt } from '../../../database/store/context/declaration.ts';
import { RunCost } from '../../../database/store/run/declaration.ts';
import { Branch, BranchReceipt, TreeMessage } from '../../../database/store/branch/declaration.ts';
import { NewRun } from '../runs/declaration.ts';
import { RunEvent } from '../../../database/store/trace/declaration.ts';

export const Thread = named(
  'Thread',
  z.object({ ...RecordedThread.shape, ...RunCost.shape }).meta({
    description: 'One conversation and its append-only log.',
    doc: 'A thread; `cost` covers its newest 1,000 runs.',
  }),
);

const { runs, totalTokens, lastRun, lastMessage, marks, ...summary } = RecordedSummary.shape;

export const ThreadSummary = named(
  'ThreadSummary',
  z
    .object({ ...summary, runs, totalTokens, ...RunCost.shape, lastRun, lastMessage, marks })
    .meta({ description: 'A thread as lists show it.' }),
);

const ownData = (more = '') => jsonObject(`Your own data, up to 64 KiB${more}`).optional();

export const NewThread = named(
  'NewThread',
  z
    .strictObject({
      id: Id.optional().describe('Default: a generated id.'),
      tenantId: Id.optional(),
      systemPrompt: z
        .string()
        .nullable()
        .optional()
        .describe('Allowed only if every agent of the server lists `systemPrompt` as overridable.'),
      metadata: ownData(', stored with the thread.'),
    })
    .meta({ example: { id: 'support-42', metadata: { customer: 7 } } }),
);

export const ForkOptions = named(
  'NewFork',
  z
    .strictObject({
      id: Id.optional().describe(
        'Default: a generated id. Repeating a request with the same id returns the same fork.',
      ),
      atSeq: whole(-1)
        .optional()
        .describe('The last entry that the fork includes; -1: none. Default: the last of the thread.'),
      contextRef: Id.optional().describe(
        'Only this lane; default: all lanes, except lanes on which strategies asked their own questions.',
      ),
      metadata: ownData('; the parent’s is not copied.'),
      systemPrompt: z
        .string()
        .nullable()
        .optional()
        .describe('Replaces the prompts of all lanes. Every agent must list `systemPrompt` as overridable.'),
      repair: z
        .boolean()
        .optional()
        .describe('Give tool calls without a result a flagged error result, instead of failing.'),
    })
    .meta({ example: { atSeq: 17, metadata: { tries: 'a shorter prompt' } } }),
);

const { agent, input, busy } = NewRun.shape;
/** What a request says of its run beside these, and beside its lane and its ids. */
const ofRun = NewRun.omit({
  agent: true,
  input: true,
  busy: true,
  contextRef: true,
  requestId: true,
  createThread: true,
}).shape;

export const BranchOptions = typed(
  'BranchOptions',
  'runs/operations/threads/branch.ts',
  named(
    'NewBranch',
    z
      .strictObject({
        afterSeq: whole(-1).optional().describe('The last entry whose context the branch has; -1: none.'),
        messageId: Id.optional().describe(
          'Instead of `afterSeq`: a question as `listUiMessages` has it, or its answer. With `input`, the branch replaces the ' +
            'question; without, it answers the question again. Needs `agent`.',
        ),
        contextRef: Id.optional().describe(
          'The lane to leave; default: the lane that has the entry, or for a message the active lane. A branch has the messages of ' +
            'the lanes it left, too.',
        ),
        lane: Id.optional().describe(
          'Name of the new lane. Default: that of the other lane with a number, such as `default@2`.',
        ),
        show: z.boolean().optional().describe('Whether the branch becomes the active lane; default true.'),
        opId: Id.optional().describe(
          'A second request with this id returns the same branch. It is also the request id of its run. You can send it as `Idempotency-Key` instead.',
        ),
        busy: busy.describe(
          'If the thread has an active run: `reject` (default) fails with 409 `thread_busy`; `wait` makes the branch and shows it ' +
            'when its run begins, or when the active run has ended; `interrupt` cancels that run, which also needs the scope `steer`.',
        ),
        agent: agent.optional().describe('The agent of a run on the branch. Default: no run.'),
        input: input
          .optional()
          .describe(
            'What the run is asked. Without it, the run answers the question of `messageId`, or that of `afterSeq`.',
          ),
        ...ofRun,
      })
      .meta({ example: { afterSeq: 17, agent: 'assistant', input: 'And in English?' } }),
  ),
);

export const ThreadConfig = named(
  'Config',
  z
    .object({
      systemPrompt: z.string().nullable(),
      tools: z.object({ added: z.array(z.string()), removed: z.array(z.string()) }).meta({
        doc: 'The tools that the thread adds to the tools of the agent that runs on it, and those that it removes.',
      }),
      toolContext: jsonObject('Merged over the tool context of the agent.'),
      contextPolicy: orNull(
        typed(
          'StoredPolicy',
          'agent/policy/policy.ts',
          jsonObject('The context policy, with its defaults filled in; null: the agent’s policy applies.'),
        ),
      ),
    })
    .meta({ description: 'Prompt and tool settings of a thread, which override those of its agents.' }),
);

const toolNames = z.array(z.string().min(1).max(128)).max(200).optional();

export const ConfigChanges = named(
  'ConfigChange',
  z
    .strictObject({
      systemPrompt: z.string().nullable().optional().describe('null: no system prompt.'),
      toolContext: jsonObject('Replaces the tool context of the thread.').optional(),
      contextPolicy: ofRequests(orNull(PolicyOption)).optional().describe('null: back to the policy of the agent.'),
      registerTools: toolNames.meta({
        doc: 'Names of tools given to `createLanefold({ tools })`, or of tools unregistered before.',
      }),
      unregisterTools: toolNames,
      contextRef: Id.optional().describe('The lane; default: the whole thread.'),
    })
    .meta({ example: { systemPrompt: 'You answer in one sentence.' } }),
);

const ToolList = named(
  'ToolList',
  z
    .object({
      added: z.array(z.string()),
      removed: z.array(z.string()),
      known: z
        .array(z.string())
        .describe('All tools that this server knows: the tools of its agents, and shared tools.'),
    })
    .meta({ description: 'Tools that the thread adds to or removes from any agent that runs on it.' }),
);

const refs = jsonObject('Provenance; your own data, up to 64 KiB.').optional();

const NewMessageEntry = named(
  'NewMessageEntry',
  z
    .strictObject({ kind: z.literal('ai_message'), contextRef: Id.optional(), payload: Message, refs })
    .meta({ description: 'A message on a lane; default: the lane `default`.' }),
);

const NewOwnEntry = named(
  'NewOwnEntry',
  z
    .strictObject({
      kind: Id.refine((kind) => kind !== 'ai_message', { abort: true })
        .optional()
        .describe('Default: `note`.'),
      contextRef: Id.optional(),
      payload: jsonObject('Your own data; default: {}.').optional(),
      refs,
    })
    .meta({
      description: 'An entry of your own kind, which no model sees.',
      example: { kind: 'order_shipped', payload: { order: 42 } },
    }),
);

const NewEntry = typed('NewEntry', 'runs/operations/threads/append.ts', z.union([NewMessageEntry, NewOwnEntry]));

const AppendEntries = named(
  'AppendEntries',
  z
    .strictObject({
      entries: ofRequests(z.array(NewEntry).min(1).max(1_000)),
      expectedRev: whole(0)
        .optional()
        .describe('Append only if the thread is at this `rev`; otherwise fail with `rev_conflict`.'),
      repair: z.boolean().optional().describe('Add flagged error results for tool calls that have no result.'),
      opId: Id.optional().describe(
        'A second request with this id returns the first receipt. You can send the id as `Idempotency-Key` instead.',
      ),
    })
    .meta({ example: { entries: [{ kind: 'ai_message', payload: { role: 'user', content: 'Where is my order?' } }] } }),
);

export const EntryPage = numberedPage('EntryPage', ThreadEntry);

/** Which entries `threads.entries` reads. */
export const EntriesOptions = z.strictObject({
  after: whole(-1).optional().describe('Default: from the first entry.'),
  kind: Id.optional(),
  contextRef: Id.optional(),
  limit: whole(1).optional().describe('Maximum number of entries; default 100.'),
});

export const EventsOptions = z.strictObject({
  after: whole(-1).optional().describe('Default: from the first event.'),
  limit: whole(1).optional().describe('Maximum number of events; default 100.'),
});

export const AgUiSnapshotOptions = z.strictObject({
  contextRef: Id.optional().meta({ doc: 'Default: the active lane.' }),
  before: whole(0)
    .optional()
    .describe('Only entries before this `seq`. Default: all entries, and also questions that no worker has taken yet.'),
});

const UiMessage = typed(
  'UiMessage',
  'runs/formats/ui-messages/message.ts',
  named(
    'UiMessage',
    z
      .object({
        id: z.string().describe('For a question, its request id; for an answer, the id of its run.'),
        role: z.enum(['user', 'assistant']),
        metadata: z
          .record(z.string(), z.any())
          .optional()
          .describe(
            'For an answer: `thread_id`, `run_id`, `usage`, `termination_reason`, `error`. For a message that has other versions on ' +
              'other branches: `versions`, with its `place` among them, from 1, and for each version a lane to show, in `lanes`.',
          ),
        parts: z.array(z.looseObject({ type: z.string() })).describe('As in the AI SDK.'),
      })
      .meta({
        description: 'A `UIMessage` of the AI SDK, with the AI SDK’s field names.',
        example: { id: 'msg-1', role: 'user', parts: [{ type: 'text', text: 'Where is my order?' }] },
      }),
  ),
);

export const RemovedRows = named(
  'Removed',
  z
    .object({
      threads: count('Threads.', 1),
      entries: count('Entries of their logs.', 12),
      events: count('Events of their traces.', 40),
      runs: count('Runs.', 3),
      toolCalls: count('Tool calls.', 5),
      inputs: count('Inputs sent to runs.', 0),
      operations: count('Context operations.', 1),
      contents: count('Large texts.', 0),
      jobs: count('Jobs in the queue.', 3),
    })
    .meta({ description: 'How many of each were removed.' }),
);

const left = z.array(z.string()).describe('What was not removed, such as backups and data that model providers keep.');

export const ErasureReport = named(
  'ErasureReport',
  z
    .object({
      threadId: Id,
      tenantId: Id,
      removed: RemovedRows,
      childThreads: z.array(Id).meta({
        description:
          'Threads of the agents that its runs called, and of those that these called. They keep their text: erase each of them ' +
          'too, unless it has become a conversation of its own.',
        doc:
          'Threads of the agents that its runs called, and of those that these called. They keep the text of their tasks, with ' +
          "`context: 'fork'` also a copy of the context of the caller. Erase each of them too, unless someone has continued it " +
          'as a conversation of its own.',
      }),
      left,
    })
    .meta({ description: 'What the erasure of a thread removed.' }),
);

export const TenantErasureReport = named(
  'TenantErasureReport',
  z
    .object({
      tenantId: Id,
      removed: RemovedRows,
      busy: z.array(Id).describe('Threads that were kept because a run is active on them. Cancel the run first.'),
      more: z.boolean().describe('The tenant has more threads: repeat the request.'),
      left,
    })
    .meta({ description: 'What the erasure of a tenant removed.' }),
);

/** The field that has the source of a format. */
const fieldOf = { lanefold: 'lines', openai: 'items', 'ai-sdk': 'messages' } as const;

const NewImport = named(
  'NewImport',
  z
    .strictObject({
      format: z.enum(['lanefold', 'openai', 'ai-sdk']),
      lines: z.array(z.string()).optional().describe('For `lanefold`: the lines of an export, unchanged.'),
      items: z.unknown().optional().describe('For `openai`: items of OpenAI, oldest first, or chat messages.'),
      messages: z.array(z.unknown()).optional().describe('For `ai-sdk`: `UIMessage`s of the AI SDK.'),
      id: Id.optional().describe(
        'Default: a generated id. Importing the same again under the same id changes nothing.',
      ),
      metadata: ownData('; default: that of the export.'),
    })
    .refine(
      ({ format, ...given }) =>
        Object.values(fieldOf).every((field) => (given[field] !== undefined) === (field === fieldOf[format])),
      'Send exactly one source: `lines` for lanefold, `items` for openai, `messages` for ai-sdk.',
    )
    .meta({ example: { format: 'openai', items: [{ role: 'user', content: 'Where is my order?' }] } }),
);

export const ImportOptions = z.strictObject({
  id: Id.optional().meta({ doc: 'Default: the id in the export or of the LangGraph thread, otherwise a new one.' }),
  metadata: jsonObject('Default: the metadata in the export, otherwise none.').optional(),
  from,
});

export const ImportReceipt = named(
  'ImportReceipt',
  z
    .object({
      id: Id,
      rev: count('Number of entries; the last one is of the kind `thread_import`.', 12),
      duplicate: z.boolean().describe('The same was imported before; nothing was written.'),
      notes: z
        .array(
          typed(
            'ImportNote',
            'runs/formats/portable/line.ts',
            z.object({
              outcome: z.enum(['left_out', 'changed', 'repaired']),
              where: z.string().describe('Where it is in the source.'),
              what: z.string(),
            }),
          ),
        )
        .describe('What could not be carried over unchanged.'),
    })
    .meta({
      description: 'An imported thread.',
      doc: 'An imported thread, and what could not be carried over unchanged.',
    }),
);

const flag = (description: string) => z.enum(['true', 'false']).optional().describe(description);

/** How the trace of a run, or of all runs of a thread, is read or followed. */
export const tracing = {
  query: {
    limit: limit(100),
    format: z
      .enum(['json', 'sse', 'ui'])
      .optional()
      .describe(
        '`json`: a page. `sse`: a live stream of server-sent events, also selected by `Accept: text/event-stream`. `ui`: the ' +
          'AI SDK’s UI message stream of the run, or of the thread’s active run.',
      ),
    after: whole(-1).optional().describe('Return events after this event_seq: the `next_after` of the previous page.'),
    deltas: flag('Streams only: include answers while they are generated; default true.'),
    entries: flag(
      'Streams only: add `entry` to each event about an entry, with the payload of that entry. Not for browser tokens.',
    ),
    wait: flag(
      'Server-sent events only: if the thread or run does not exist yet, wait for it instead of answering 404. The first ' +
        'message is `exists`.',
    ),
  },
  headers: {
    'Last-Event-ID': z
      .string()
      .regex(/^\d{0,15}$/, 'Must be the event_seq of an event of this stream.')
      .optional()
      .describe('Streams only: resume after this event. Browsers send it automatically.'),
  },
  answer: {
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
  },
};

const gone = ['thread_not_found', 'thread_erased'] as const;
const laneAt = { contextRef: Id.optional(), atSeq };

/** Operations on threads and their logs. Those without a place in the API, such as `threads.stream`, are in `Threads`. */
export const threads = noun(
  'threads',
  'Threads',
  {
    create: {
      id: 'createThread',
      route: 'POST /v1/threads',
      scope: 'run',
      client: true,
      summary: 'Create a thread',
      body: NewThread,
      bodyIs: 'options',
      own: { from },
      answer: { status: 201, description: 'The thread.', schema: Thread },
      returns: z.object({ id: z.string(), rev: z.int() }),
      errors: ['thread_exists', 'thread_erased', 'invalid_id', 'invalid_text', 'override_not_allowed', 'invalid_input'],
    },
    list: {
      id: 'listThreads',
      route: 'GET /v1/threads',
      scope: 'read',
      client: true,
      summary: 'List threads, newest first, by creation or by latest question',
      query: ThreadFilter.shape,
      answer: { description: 'A page of threads.', schema: pageOf('ThreadPage', ThreadSummary) },
    },
    get: {
      id: 'getThread',
      route: 'GET /v1/threads/{thread_id}',
      scope: 'read',
      client: true,
      summary: 'Read a thread',
      answer: { description: 'The thread.', schema: Thread },
      errors: gone,
    },
    erase: {
      id: 'eraseThread',
      route: 'DELETE /v1/threads/{thread_id}',
      audit: 'erase_conversation',
      client: true,
      summary: 'Erase a thread permanently',
      description: 'Removes all data of the thread from the database and the queue. Its id cannot be used again.',
      doc:
        'Permanently deletes everything of the thread, in the database and the queue; its id cannot be reused. The report says ' +
        'what was removed, and what is left elsewhere. Threads of agents that its runs called stay: `childThreads` lists them. ' +
        'While a run is active, it throws `thread_busy`: cancel the run first.',
      answer: { description: 'The thread was erased.', schema: ErasureReport },
      errors: [...gone, 'thread_busy'],
    },
    eraseTenant: {
      id: 'eraseTenant',
      route: 'DELETE /v1/tenants/{tenant_id}/threads',
      audit: 'erase_schedules',
      summary: 'Erase the threads of a tenant permanently',
      description:
        'Removes the schedules, evals, monitors, alarms, kept events and webhooks of the tenant, and erases up to `limit` threads; repeat ' +
        'the request while `more` is true.',
      doc:
        'Erases the schedules, evals, cases, monitors, alarms, kept events, webhooks and streams of a tenant, and its threads, `limit` at ' +
        'a time: repeat while the report says `more`. `left` lists what stays, such as API keys and limits.',
      query: { limit: limit(100) },
      own: { limit: whole(1, 10_000).optional().describe('Maximum number of threads; default 1,000.') },
      answer: { description: 'The erasure report.', schema: TenantErasureReport },
    },
    config: {
      id: 'getConfig',
      route: 'GET /v1/threads/{thread_id}/config',
      scope: 'read',
      client: true,
      summary: 'Read the configuration of a lane',
      doc: 'The configuration of a lane (default: the active one), now or as of an entry.',
      query: laneAt,
      answer: { description: 'The configuration.', schema: ThreadConfig },
      errors: gone,
    },
    configure: {
      id: 'changeConfig',
      route: 'PATCH /v1/threads/{thread_id}/config',
      audit: 'change_config',
      client: true,
      summary: 'Change the system prompt, tools, tool context or context policy from the next run on',
      doc:
        'Changes prompt, tools, tool context or context policy, effective with the next run; `deferred` while a run is active. ' +
        'With `from`, every agent of this process must list what changes.',
      body: ConfigChanges,
      bodyName: 'changes',
      own: { from, by: z.string().optional().describe('Who makes the change, for the `refs` of the entry.') },
      answer: {
        description: 'The change was applied.',
        schema: ConfigReceipt,
        also: { 202: { description: 'A run is active: the change is applied when it ends.', schema: ConfigReceipt } },
      },
      errors: [...gone, 'override_not_allowed', 'unknown_tool', 'invalid_policy', 'invalid_input'],
    },
    fork: {
      id: 'forkThread',
      route: 'POST /v1/threads/{thread_id}/fork',
      scope: 'run',
      audit: 'create_fork',
      client: true,
      summary: 'Fork a thread as it was after an entry',
      description:
        'The fork begins with the configuration, state and contexts of that moment. The key must also allow the id of the fork.',
      doc:
        'Creates a thread that begins as another one was after an entry: with its configuration, its state, and one anchor per ' +
        'lane. It copies the contexts, not the log. Later changes to one of the two do not affect the other.\n\n' +
        "@example\nconst { id } = await lanefold.threads.fork('support-42', { atSeq: 17, metadata: { tries: 'a shorter prompt' } });",
      body: ForkOptions,
      bodyIs: 'options',
      own: { from },
      answer: { status: 201, description: 'The fork.', schema: Thread },
      returns: ForkReceipt,
      errors: [
        ...gone,
        'thread_exists',
        'context_too_large',
        'open_tool_group',
        'idempotency_mismatch',
        'invalid_input',
        'invalid_id',
        'override_not_allowed',
      ],
    },
    branch: {
      id: 'branchThread',
      route: 'POST /v1/threads/{thread_id}/branch',
      scope: 'run',
      audit: 'branch',
      client: true,
      byHand: true,
      tag: 'Branches',
      summary: 'Branch a thread after an entry, to edit a question or to get another answer',
      description:
        'The branch is a new lane of the thread, which begins with the context of that moment; the other lane stays. With `agent`, a ' +
        'run on the branch is accepted in the same commit: with `input` it asks that, without it answers the question again.',
      body: BranchOptions,
      idempotencyKey: 'opId',
      answer: { status: 201, description: 'The branch.', schema: BranchReceipt, replays: true },
      errors: [
        ...gone,
        'thread_busy',
        'open_tool_group',
        'invalid_operation',
        'context_too_large',
        'idempotency_mismatch',
        'invalid_input',
        'invalid_id',
        'unknown_agent',
        'override_not_allowed',
      ],
    },
    branches: {
      id: 'listBranches',
      route: 'GET /v1/threads/{thread_id}/branches',
      scope: 'read',
      client: true,
      tag: 'Branches',
      summary: 'List the lanes of a thread as a tree',
      answer: { description: 'The lanes, in the order in which they began.', schema: z.array(Branch) },
      errors: gone,
    },
    tree: {
      id: 'listMessageTree',
      route: 'GET /v1/threads/{thread_id}/tree',
      scope: 'read',
      client: true,
      tag: 'Branches',
      summary: 'List the messages of a thread as a tree, across its branches',
      description: 'Pass `next_after` as `after` for the next page.',
      query: {
        after: whole(-1).optional().describe('Return messages after this seq.'),
        limit: limit(1_000),
      },
      answer: { description: 'A page of messages, ordered by seq.', schema: numberedPage('TreePage', TreeMessage) },
      errors: gone,
    },
    append: {
      id: 'appendEntries',
      route: 'POST /v1/threads/{thread_id}/entries',
      scope: 'run',
      client: true,
      tag: 'Entries',
      summary: 'Append messages or entries of your own kinds',
      description:
        'Appends all entries or none. Messages must form whole groups: each tool call is followed by its result, in call order.',
      body: AppendEntries,
      bodyIs: 'options',
      positional: ['entries'],
      idempotencyKey: 'opId',
      answer: { status: 201, description: 'The entries were appended.', schema: AppendReceipt, replays: true },
      errors: [
        ...gone,
        'reserved_kind',
        'rev_conflict',
        'lane_busy',
        'context_too_large',
        'open_tool_group',
        'idempotency_mismatch',
        'invalid_input',
        'invalid_id',
        'invalid_text',
        'empty_content',
      ],
    },
    entryPage: {
      id: 'listEntries',
      route: 'GET /v1/threads/{thread_id}/entries',
      scope: 'read',
      client: true,
      tag: 'Entries',
      summary: 'Read the log, ordered by seq',
      description: 'A page ends after `limit` entries or 4 MiB; pass its `next_after` as `after` to get the next one.',
      doc:
        'A page of entries, which ends after `limit` entries or `maxBytes` of payloads and refs. Pass `nextAfter` as `after` for ' +
        'the next page; null at the end.',
      query: {
        after: whole(-1).optional().describe('Return entries after this seq: the `next_after` of the previous page.'),
        kind: Id.optional(),
        contextRef: Id.optional(),
        limit: limit(100),
      },
      own: { maxBytes: whole(1).optional().describe('Default 4 MiB; one entry may be larger.') },
      answer: { description: 'A page of entries.', schema: EntryPage },
      errors: gone,
    },
    readContent: {
      id: 'readContent',
      route: 'GET /v1/threads/{thread_id}/contents/{content_id}',
      scope: 'read',
      client: true,
      tag: 'Entries',
      summary: 'Read a text that a message shows only in part',
      description:
        'A message lists the texts it shortens in `refs.contents`. To read on, pass `next_offset` as `offset`, until it is null.',
      doc:
        'Reads a large text that a message of the thread shows only in part and names in `refs.contents`. Counts characters as ' +
        'code points; `nextOffset` says where to continue, null at the end.',
      query: {
        offset: whole(0, 2 ** 31 - 2)
          .optional()
          .describe('Where to begin, in characters. Default 0.'),
        length: whole(1, 1_048_576).optional().describe('How many characters to read. Default 65536.'),
      },
      own: {
        length: whole(1, 2 ** 31 - 2)
          .optional()
          .describe('How many characters; default: all to the end.'),
      },
      answer: { description: 'A part of the text.', schema: ContentRange },
      errors: [...gone, 'content_not_found'],
    },
    uiMessages: {
      id: 'listUiMessages',
      route: 'GET /v1/threads/{thread_id}/ui-messages',
      scope: 'read',
      client: true,
      tag: 'Entries',
      summary: 'Read the conversation of a lane as messages of the AI SDK',
      description:
        'Returns the newest `limit` questions with their answers, in the order of the conversation; pass `next_after` as `after` for earlier ones.',
      doc:
        "The conversation of a lane as the AI SDK's `UIMessage`s, in chronological order: the newest `limit` questions with " +
        'their answers, and with `after: nextAfter` the ones before. Questions that wait for a worker are included; an ' +
        'unfinished answer contains what has been committed so far. Messages that a replace or a compaction removed from the ' +
        'context are included.',
      query: { after, contextRef: Id.optional(), limit: limit(50) },
      answer: { description: 'A page of messages.', schema: pageOf('UiMessagePage', UiMessage) },
      errors: gone,
    },
    events: {
      id: 'listThreadEvents',
      route: 'GET /v1/threads/{thread_id}/events',
      scope: 'read',
      client: true,
      byHand: true,
      tag: 'Events',
      summary: 'Read the trace of all runs of a thread, or follow it live',
      ...tracing,
      errors: gone,
    },
    export: {
      id: 'exportThread',
      route: 'GET /v1/threads/{thread_id}/export',
      scope: 'read',
      byHand: true,
      summary: 'Export a thread as JSON Lines',
      description:
        'The entries as they are stored, the large texts they quote, and the runs, one JSON object per line, each with a hash. ' +
        'An export whose last line is not of the type `head` was cut off.',
      answer: { description: 'The lines.', content: { 'application/x-ndjson': { schema: z.string() } } },
      errors: gone,
    },
    import: {
      id: 'importThread',
      route: 'POST /v1/threads/import',
      audit: 'import_thread',
      byHand: true,
      summary: 'Create a thread from an export, or from a history of OpenAI or the AI SDK',
      description:
        'The thread appears when it is complete. What sets its prompt, tools, tool context or policy must be overridable in every agent.',
      body: NewImport,
      headers: {
        'Idempotency-Key': Id.optional().meta({
          description:
            'A request with the same key does not repeat the operation: it returns the first response, with `Idempotent-Replayed`.',
          example: 'req-7f3a',
        }),
      },
      answer: {
        status: 201,
        description: 'The thread was created.',
        schema: ImportReceipt,
        also: {
          200: {
            description: 'The same was imported before.',
            schema: ImportReceipt,
            replays: true,
          },
        },
      },
      errors: ['thread_exists', 'thread_erased', 'import_refused', 'idempotency_mismatch', 'open_tool_group'],
    },
  },
  {
    listTools: {
      id: 'listTools',
      route: 'GET /v1/threads/{thread_id}/tools',
      scope: 'read',
      summary: 'List the tools that a thread adds to or removes from its agents',
      query: laneAt,
      answer: { description: 'The tools.', schema: ToolList },
      errors: gone,
    },
  },
);

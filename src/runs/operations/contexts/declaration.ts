import { z } from 'zod';
import { Message, Role, SentMessage, ToolCall } from '../../../agent/models/message-schema.ts';
import { Content } from '../../../agent/models/content-schema.ts';
import { PolicyOption } from '../../../agent/policy/declaration.ts';
import { noun } from '../../../base/operations/operation.ts';
import {
  anyJson,
  atSeq,
  count,
  date,
  from,
  Id,
  jsonObject,
  limit,
  named,
  ofRequests,
  orNull,
  typed,
  whole,
} from '../../../base/operations/schemas.ts';
import { DiffRow, Lane, OperationReceipt } from '../../../database/store/context/declaration.ts';
import { RunReceipt, Usage } from '../../../database/store/run/declaration.ts';

const model = typed('ModelName', 'agent/models/providers.ts', z.string().min(1).max(10_000)).optional();
const agent = (max: number) => z.string().min(1).max(max).optional();
const text = z.string().nullable();

const ContextMessage = typed(
  'ContextRow',
  'agent/context/fold.ts',
  named(
    'ContextMessage',
    z
      .object({
        ordinal: count('Position in the context, from 0.', 0),
        seq: count('The entry it comes from.', 0),
        anchor_seq: count('`seq` of the anchor of the lane; -1: none.', -1),
        role: Role,
        content: Content,
        tool_calls: z.array(ToolCall).nullable(),
        tool_call_id: text,
        name: text,
        thinking: text,
        reasoning_details: anyJson('Reasoning data of the provider.'),
        provider_metadata: anyJson('Metadata of the provider.'),
        run_id: text,
        request_id: text,
        refs: anyJson('Provenance.'),
      })
      .meta({ description: 'A row of the view `lane_context`.' }),
  ),
);

export const ProjectionMeta = named(
  'ProjectionMeta',
  z
    .object({
      estimated_tokens: count('Tokens of the messages, including the system prompt.', 75),
      tool_tokens: count('Tokens of the tools offered; 0 if this server does not know the agent.', 0),
      budget: z.int().nullable().describe('Maximum tokens of the request; null: no limit.'),
      window: z.int().nullable().describe('The context window of the model; null: unknown.'),
      truncated: z.boolean().describe('Whether the budget or `max_messages` left messages out.'),
      entries_included: count('Messages sent, without the system prompt.', 6),
      entries_total: count('Messages of the lane, without the system prompt.', 6),
      summary_used: z.boolean(),
      over_budget: z.boolean().describe('Whether the messages that must be kept exceed the budget.'),
      estimator: z
        .object({
          name: z.string().meta({ example: 'calibrated' }),
          ratio: z.number().describe('The factor by which the heuristic is multiplied.'),
          error: z.number().nullable().describe('Mean error of `calibrated`, as a share.'),
          calls: z
            .int()
            .nullable()
            .describe('Number of model calls of this process that `calibrated` has learnt from.'),
          fallback: z.string().nullable().describe('Why the heuristic was used instead.'),
        })
        .meta({
          doc: 'How tokens were counted. For `calibrated`, also the correction factor, its mean error, and the number of calls that it was learnt from.',
        }),
    })
    .meta({ description: 'The result of applying a policy to a context.' }),
);

export const ExplainedMessage = named(
  'ExplainedMessage',
  z
    .object({
      ordinal: count('Position in the context before the policy, from 0.', 0),
      seq: count('The entry of the message; -1 for the prompt of a policy.', 0),
      role: z.string(),
      kind: z.enum(['system', 'summary', 'message', 'tool_group']),
      tokens: count('Tokens of the message.', 12),
      included: z.boolean(),
      reason: typed('PolicyReason', 'agent/policy/cut-groups.ts', z.string()).meta({
        description:
          'Sent: system_prompt, summary, durable, last_turns, question, fits, projector. Left out: kind, summarization, cut_before, budget, max_messages, before_question, not_chosen.',
        example: 'fits',
      }),
      message: typed(
        'Message',
        'agent/context/message.ts',
        jsonObject('The message itself, if it is left out.'),
      ).optional(),
    })
    .meta({ description: 'Why a message is sent or left out, and its tokens.' }),
);

const Projection = named(
  'Context',
  z
    .object({
      threadId: Id,
      contextRef: Id,
      atSeq: z.int().nullable().describe('The entry as of which the context is shown; null: now.'),
      messages: z.array(ContextMessage),
      policy: jsonObject('With `policy` or `explain`: the policy applied, with its defaults filled in.').optional(),
      meta: ProjectionMeta.optional(),
      explain: z.array(ExplainedMessage).optional(),
    })
    .meta({
      description: 'What the model sees on a lane: the system prompt, the messages of the anchor, and those after it.',
    }),
);

export const LaneOptions = z
  .strictObject({
    contextRef: Id.optional().meta({ doc: 'The lane; default: the active one.' }),
    atSeq: atSeq.meta({ doc: 'As of this entry, inclusive; default: now.' }),
    limit: whole(1)
      .optional()
      .describe(
        'Only the newest messages: at most this many besides the system prompt, with whole tool groups. Default: all messages.',
      ),
  })
  .meta({ doc: 'Which context to read.' });

export const PolicyView = z.strictObject({
  policy: PolicyOption.optional().meta({ doc: "Default: the thread's, else the agent's." }),
  model: model.meta({ doc: "`provider:model`, for the window and the tokenizer. Default: the agent's." }),
  agent: agent(64).meta({
    doc: "The agent whose tools, output contract and settings share the budget. Default: that of the lane's latest run.",
  }),
  fullBudget: z
    .boolean()
    .optional()
    .meta({
      doc:
        'Shows what fits the budget alone, instead of what the next call is sent: ignores the cut that earlier calls left in ' +
        'force, and the room that a new cut leaves.',
    }),
  explain: z.boolean().optional().meta({
    doc: 'For every message, adds why it is sent or left out, and what it costs.',
  }),
});

const reason = z.enum(['manual', 'restore', 'compaction', 'system']).optional();
const expectedRev = whole(0)
  .optional()
  .describe('Apply only if the thread is at this `rev`; otherwise fail with `rev_conflict`.');
const repair = z.boolean().optional().describe('Add flagged error results for tool calls that have no result.');
const opId = Id.optional().describe(
  'An operation with this id is applied at most once per thread. You can send the id as `Idempotency-Key` instead.',
);
const shared = {
  reason,
  baseSeq: whole(0).optional().describe('The entry the operation is based on; recorded only.'),
  meta: jsonObject('Your own data; recorded only.').optional(),
};

export const OperationOptions = z
  .strictObject({
    opId: opId.meta({ doc: 'A thread applies an operation with this id at most once; default: a new id.' }),
    ...shared,
    expectedRev,
    repair,
  })
  .meta({ doc: 'How a context is changed.' });

export const NewContext = z
  .strictObject({
    id: Id.optional().describe('Your own name for the context, kept in the log.'),
    systemPrompt: z
      .string()
      .nullable()
      .optional()
      .describe('Absent: the lane keeps its system prompt. null: no system prompt.'),
    entries: ofRequests(z.array(Message).max(10_000)),
  })
  .meta({ doc: 'A context to start from: messages in chronological order.' });

const Replace = named(
  'Replace',
  z
    .strictObject({ type: z.literal('replace'), resultContext: NewContext, ...shared })
    .meta({ description: 'Replaces the context of a lane.' }),
);

const Switch = named(
  'Switch',
  z.strictObject({ type: z.literal('switch'), ...shared }).meta({ description: 'Makes a lane the active one.' }),
);

const ContextOperation = named(
  'ContextOperation',
  z
    .strictObject({
      opId,
      contextRef: Id.optional().describe('The lane. Required for a switch; for a replace, default: the active lane.'),
      operation: z.discriminatedUnion('type', [Replace, Switch]),
      expectedRev,
      repair,
    })
    .meta({
      example: {
        contextRef: 'default',
        operation: {
          type: 'replace',
          resultContext: { entries: [{ role: 'user', content: 'In short: my order is late.' }] },
        },
      },
    }),
);

const LaneChange = named(
  'LaneChange',
  z.strictObject({ opId, reason, meta: shared.meta, expectedRev }).meta({ example: {} }),
);

export const DiffedContext = z
  .strictObject({ threadId: Id, contextRef: Id.optional(), atSeq })
  .meta({ doc: 'A context to compare. `contextRef`: default the active lane; `atSeq`: default now.' });

const ContextDiff = named(
  'ContextDiff',
  z.object({ data: z.array(DiffRow) }).meta({ description: 'The messages of two contexts, in order.' }),
);

export const CompactOptions = named(
  'Compact',
  z
    .strictObject({
      contextRef: Id.optional().describe('The lane; default: the active lane.'),
      range: z
        .strictObject({ fromSeq: whole(0), toSeq: whole(0) })
        .optional()
        .describe('Entries to summarise, inclusive. Default: all but the newest turns.'),
      keepTurns: whole(0, 10_000).optional().meta({
        description: 'How many of the newest turns to keep; default: `keep_last_turns` of the context policy.',
        doc: 'How many of the newest turns stay; default: as the context policy says.',
      }),
      agent: agent(200).meta({
        description: 'Default: the agent of the lane’s latest run.',
        doc: "The agent whose model, prompt and tools the request uses; default: the agent of the lane's latest run.",
      }),
      model: model.meta({
        description: 'Default: the model of the lane’s latest run.',
        doc: "Default: the model of the lane's latest run, whose provider has the context in its cache.",
      }),
    })
    .meta({ example: { keepTurns: 2 } }),
);

/** A tool as a call offered it. */
export const Tool = named(
  'Tool',
  z.object({
    name: z.string(),
    description: z.string().nullable(),
    inputSchema: jsonObject('JSON Schema.'),
  }),
);

export const PrefixBreak = z
  .object({
    position: count('Position of the first message that differs, from 0.', 2),
    seq: count(
      'The entry that caused it: the new prompt, the anchor, or the answer whose `refs` say what the policy left out.',
      4,
    ),
    cause: z.enum(['prompt', 'anchor', 'policy', 'fallback']),
  })
  .meta({
    doc: "Where a call first differs from the previous call on its lane. A provider's cached prefix ends there.",
  });

export const ModelCall = named(
  'ModelCall',
  z
    .object({
      threadId: Id,
      runId: Id,
      llmCallId: Id,
      contextRef: Id,
      agent: z.string(),
      model: z.string(),
      window: z.int().nullable().describe('Size of the model’s context window in tokens; null: unknown.'),
      iteration: count('Iteration of the run, from 1.', 1),
      seq: count('The entry of the answer.', 4),
      messages: z.array(SentMessage).describe('The messages as they were sent, in canonical form.'),
      sources: z
        .array(z.int().nullable())
        .describe('For each message, the `seq` of its entry; null for instructions that are never stored.'),
      contextHash: z.string().meta({
        description:
          'The hash that the worker recorded when it sent the messages: SHA-256, in hex, of the canonical JSON (RFC 8785) of each, ' +
          'followed by a newline.',
      }),
      verified: z
        .boolean()
        .describe('Whether the messages have this hash: if so, they are byte for byte what was sent.'),
      unverifiedBecause: z
        .enum(['transformed', 'output_contract', 'mismatch'])
        .nullable()
        .describe(
          'Why the messages do not have the hash: a request transformer changed them, this server does not know the output contract, or neither explains the mismatch; null if they have it.',
        ),
      answer: jsonObject('The answer.'),
      refs: jsonObject('Provenance of the answer.'),
      usage: orNull(Usage).describe('Null if the trace was deleted.'),
      finishReason: z.string().nullable(),
      startedAt: date('When the call started; null if the trace was deleted.').nullable(),
      completedAt: date('When the answer was committed.'),
      durationMs: z.number().nullable(),
      failedAttempts: z
        .array(
          z.object({
            kind: z.string().meta({ example: 'llm_retry' }),
            at: date('When the failure was committed.'),
            data: jsonObject('Depends on the kind.'),
          }),
        )
        .describe('Failed or lost attempts before this answer.'),
      tools: z
        .array(Tool)
        .nullable()
        .describe('The tools offered, as this server defines the agent; null if it does not know the agent.'),
      prefixBreak: PrefixBreak.nullable().describe(
        'Where and why the messages stop matching the previous call on the lane; null if they begin with everything it sent, or if the log cannot tell.',
      ),
      previousCallId: orNull(Id).describe('The previous call on the lane.'),
      nextCallId: orNull(Id).describe('The next call on the lane.'),
    })
    .meta({ description: 'One answered model call: exactly what was sent, and what came back.' }),
);

export const ReplayCallOptions = named(
  'ReplayRequest',
  z
    .strictObject({
      model: model.meta({ description: 'Default: the model of the call.' }),
      systemPrompt: z
        .string()
        .nullable()
        .optional()
        .describe('Replaces the whole system message; null: none. Default: the one that was sent.'),
      contextPolicy: PolicyOption.optional().describe(
        'Cuts the context of the lane as it was before the call, instead of the policy of the run.',
      ),
    })
    .meta({ example: { model: 'openai:gpt-5' } }),
);

export const CallReplay = named(
  'CallReplay',
  z
    .object({
      threadId: Id,
      llmCallId: Id,
      model: z.string(),
      verified: z.boolean().describe('Whether the messages, before any change, have the recorded hash.'),
      messages: count('Number of messages sent, including the system prompt.', 5),
      answer: orNull(jsonObject('The answer; its tool calls were not executed. Null if the call failed.')),
      error: z.object({ type: z.string(), message: z.string() }).nullable(),
      usage: orNull(Usage).describe('Null if the call failed.'),
      finishReason: z.string().nullable(),
      durationMs: z.number(),
    })
    .meta({ description: 'How a model answered a replayed call. It is not stored.' }),
);

const signal = typed(
  'AbortSignal',
  undefined,
  z.custom<AbortSignal>((given) => given instanceof AbortSignal, 'Must be an AbortSignal.'),
).optional();

const gone = ['thread_not_found', 'thread_erased'] as const;

const changed = {
  description: 'The operation was applied, by this request or an earlier one.',
  schema: OperationReceipt,
  replays: true,
  also: {
    202: {
      description: 'A run is active: the operation is applied when it ends, unless a later operation supersedes it.',
      schema: OperationReceipt,
    },
  },
} as const;
const unchanged = [...gone, 'rev_conflict', 'open_tool_group', 'invalid_operation', 'override_not_allowed'] as const;

/** Operations on contexts. Those whose form in the library is another one are in `Contexts`. */
export const contexts = noun(
  'contexts',
  'Contexts',
  {
    lanes: {
      id: 'listLanes',
      route: 'GET /v1/threads/{thread_id}/contexts',
      scope: 'read',
      client: true,
      summary: 'List the lanes of a thread',
      answer: { description: 'The lanes.', schema: z.array(Lane) },
      errors: gone,
    },
    project: {
      id: 'getContext',
      route: 'GET /v1/threads/{thread_id}/contexts/{context_ref}',
      scope: 'read',
      client: true,
      byHand: true,
      summary: 'Read the context of a lane, now or as of an entry',
      // with any of the last five parameters, the context is shown as a model call would receive it
      query: {
        atSeq,
        limit: limit(10_000),
        policy: z
          .string()
          .max(1_000_000)
          .meta({ example: 'short_context' })
          .optional()
          .describe('Context policy to apply: a preset, or a JSON object of fields.'),
        model: model.describe(
          'Show what a call would send to this model, given its window and tokenizer. Default: the model of the agent.',
        ),
        agent: agent(64).describe(
          'Show what a call of this agent would send, given its policy, tools and settings. Default: the agent of the lane’s latest run.',
        ),
        fullBudget: z
          .enum(['true', 'false'])
          .optional()
          .describe('Ignore cuts of earlier calls: show what fits the budget, not what the next call sends.'),
        explain: z
          .enum(['true', 'false'])
          .optional()
          .describe('Add why each message is sent or left out. Default policy: the thread’s, else the agent’s.'),
      },
      answer: { description: 'The context.', schema: Projection },
      errors: [...gone, 'invalid_policy', 'unknown_window', 'invalid_projection', 'unknown_agent'],
    },
    compact: {
      id: 'compactLane',
      route: 'POST /v1/threads/{thread_id}/compact',
      audit: 'enqueue_run',
      client: true,
      summary: 'Have a model summarise the older part of a lane',
      description:
        'Enqueues a separate run with the strategy `compaction`. Until it ends, further requests for the lane return the same run.',
      doc:
        'Has a model summarise the older part of a lane (default: the active one) and replaces that part with the summary. The ' +
        'compaction is a separate run: it waits for the active one, is leased and retried like any other, and shows up in ' +
        '`runs.list` with the strategy `compaction`. Its result says what it covered and what it cost. Durable messages, such ' +
        'as skills, stay. If the summary is empty, or longer than what it covers, the run fails and nothing changes. Until a ' +
        "lane's compaction has ended, another call returns the same run.\n\n" +
        "@example\nconst run = await lanefold.contexts.compact('support-42');\nconst { status, result } = await lanefold.runs.wait(run);",
      body: CompactOptions,
      bodyIs: 'options',
      own: { caller: z.string().optional().describe('Who starts it; `runs.unfinished` counts runs by caller.'), from },
      answer: { status: 202, description: 'The compaction was accepted.', schema: RunReceipt, replays: true },
      returns: typed('CompactionHandle', 'runs/operations/contexts/compaction-result.ts', z.object({})),
      errors: [...gone, 'unknown_agent', 'unknown_model', 'override_not_allowed', 'invalid_input'],
    },
    call: {
      id: 'getCall',
      route: 'GET /v1/threads/{thread_id}/calls/{llm_call_id}',
      scope: 'read',
      client: true,
      summary: 'Read the exact context of a model call, and verify its hash',
      description:
        'An answer has the id of its call in `refs.llm_call_id`; events about the call have it in `data.call_id`.',
      doc:
        'One answered model call: exactly what was sent, verified by its hash, and what came back. Its `llm_call_id` is in the ' +
        'refs of the answer.',
      answer: { description: 'The call.', schema: ModelCall },
      errors: [...gone, 'call_not_found'],
    },
    replayCall: {
      id: 'replayCall',
      route: 'POST /v1/threads/{thread_id}/calls/{llm_call_id}/replay',
      scope: 'run',
      audit: 'here',
      summary: 'Replay a recorded model call, to compare the answers',
      description:
        'Sends the same messages, with another model, system prompt or policy if given. Runs no tools and writes nothing to the ' +
        'thread. Each request spends tokens.',
      doc:
        'Repeats an answered model call, with another model, system prompt or policy, to compare the answers. Runs no tools and ' +
        'writes nothing; if the call fails, `error` says why.',
      body: ReplayCallOptions,
      bodyIs: 'options',
      own: { signal: signal.describe('Aborts the model call.'), from },
      answer: { description: 'How the model answered, or why it did not.', schema: CallReplay },
      errors: [
        ...gone,
        'call_not_found',
        'unknown_agent',
        'unknown_model',
        'missing_provider_key',
        'override_not_allowed',
        'invalid_policy',
        'unknown_window',
        'server_busy',
      ],
    },
  },
  {
    applyOperation: {
      id: 'applyContextOperation',
      route: 'POST /v1/threads/{thread_id}/context-operations',
      audit: 'apply_operation',
      client: true,
      summary: 'Replace the context of a lane, or switch to a lane',
      body: ContextOperation,
      idempotencyKey: 'opId',
      answer: changed,
      errors: unchanged,
    },
    showLane: {
      id: 'showLane',
      route: 'POST /v1/threads/{thread_id}/contexts/{context_ref}/show',
      scope: 'run',
      audit: 'apply_operation',
      client: true,
      summary: 'Make a lane that exists the active one, to show its branch',
      description: '`listUiMessages` names the lanes of the versions of a message in `metadata.versions`.',
      body: LaneChange,
      bodyIs: 'options',
      idempotencyKey: 'opId',
      answer: changed,
      errors: unchanged,
    },
    resetLane: {
      id: 'resetLane',
      route: 'POST /v1/threads/{thread_id}/contexts/{context_ref}/reset',
      audit: 'apply_operation',
      client: true,
      summary: 'Empty a lane, but keep its system prompt',
      body: LaneChange,
      bodyIs: 'options',
      idempotencyKey: 'opId',
      answer: changed,
      errors: unchanged,
    },
    diffContexts: {
      id: 'diffContexts',
      route: 'GET /v1/threads/{thread_id}/contexts/{context_ref}/diff',
      scope: 'read',
      summary: 'Compare the contexts of two threads, lanes or entries',
      query: {
        atSeq,
        otherThreadId: Id.optional().describe('Default: the same thread.'),
        otherContextRef: Id.optional().describe('Default: the same lane.'),
        otherAtSeq: atSeq,
      },
      answer: { description: 'The messages of both, in order.', schema: ContextDiff },
      errors: gone,
    },
  },
);

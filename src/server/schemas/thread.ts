import { z } from '@hono/zod-openapi';
import { count, Id, jsonObject, next, nextCursor, orNull, timestamp, whole } from './values.ts';
import { ContextPolicy, cost, marks, RunStatus } from './run.ts';

export const Thread = z
  .object({
    id: Id,
    tenant_id: Id,
    rev: count('Number of entries.', 5),
    event_rev: count('Number of events. To stream only new events, start after `event_rev` - 1.', 12),
    active_context_ref: Id,
    active_run_id: orNull(Id).openapi({ description: 'The run that is queued, running or suspended.' }),
    metadata: jsonObject('Your own data.'),
    state: jsonObject('State written by tools.'),
    parent_thread_id: orNull(Id).openapi({ description: 'The thread it was forked from.' }),
    fork_seq: z.int().nullable().openapi({ description: 'The last entry of the parent that the fork includes.' }),
    created_at: timestamp('When the thread was created.'),
    updated_at: timestamp('When the thread was last written to.'),
    ...cost,
  })
  .openapi('Thread', { description: 'One conversation and its append-only log.' });

export const ThreadSummary = z
  .object({
    id: Id,
    tenant_id: Id,
    rev: count('Number of entries.', 5),
    active_run_id: orNull(Id),
    metadata: jsonObject('Your own data.'),
    parent_thread_id: orNull(Id),
    created_at: timestamp('When the thread was created.'),
    updated_at: timestamp('When the thread was last written to.'),
    status: orNull(RunStatus).openapi({
      description: 'Status of the active run, or else of the latest; null: no runs.',
    }),
    runs: count('Number of runs, up to 1,000.', 2),
    total_tokens: count('Total tokens of these runs.', 4210),
    ...cost,
    last_run: z
      .object({
        id: Id,
        agent: z.string(),
        model: z.string(),
        status: RunStatus,
        error_type: z.string().nullable(),
        at: timestamp('When the run was accepted.'),
        start_at: timestamp('No worker starts the run before this time.').nullable(),
      })
      .nullable()
      .openapi({ description: 'The active run, or else the latest.' }),
    last_message: z
      .string()
      .nullable()
      .openapi({ description: 'The first 200 characters of the message that started the latest run.' }),
    marks: marks('Marks of its newest ten runs, counted by kind;'),
  })
  .openapi('ThreadSummary', { description: 'A thread as lists show it.' });

export const ThreadPage = z.object({ data: z.array(ThreadSummary), next_after: nextCursor }).openapi('ThreadPage');

export const NewThread = z
  .strictObject({
    id: Id.optional().openapi({ description: 'Default: a generated id.' }),
    tenant_id: Id.optional(),
    system_prompt: z
      .string()
      .nullable()
      .optional()
      .openapi({ description: 'Allowed only if every agent of the server lists `systemPrompt` as overridable.' }),
    metadata: jsonObject('Your own data, up to 64 KiB, stored with the thread.').optional(),
  })
  .openapi('NewThread', { example: { id: 'support-42', metadata: { customer: 7 } } });

export const NewFork = z
  .strictObject({
    id: Id.optional().openapi({
      description: 'Default: a generated id. Repeating a request with the same id returns the same fork.',
    }),
    seq: whole(-1)
      .optional()
      .openapi({ description: 'The last entry that the fork includes; -1: none. Default: the last of the thread.' }),
    context_ref: Id.optional().openapi({
      description: 'Only this lane; default: all lanes except those of strategies’ questions.',
    }),
    metadata: jsonObject('Your own data, up to 64 KiB; the parent’s is not copied.').optional(),
    system_prompt: z
      .string()
      .nullable()
      .optional()
      .openapi({ description: 'Replaces the prompts of all lanes; every agent must list it as overridable.' }),
    repair: z
      .boolean()
      .optional()
      .openapi({ description: 'Close an open tool group with flagged error results, instead of failing.' }),
  })
  .openapi('NewFork', { example: { seq: 17, metadata: { tries: 'a shorter prompt' } } });

export const Config = z
  .object({
    system_prompt: z.string().nullable(),
    tools: z.object({ added: z.array(z.string()), removed: z.array(z.string()) }),
    tool_context: jsonObject('Merged over the tool context of the agent.'),
    context_policy: orNull(
      jsonObject('The context policy, with its defaults filled in; null: the agent’s policy applies.'),
    ),
  })
  .openapi('Config', { description: 'Prompt and tool settings of a thread, which override those of its agents.' });

export const ConfigChange = z
  .strictObject({
    system_prompt: z.string().nullable().optional().openapi({ description: 'null: no system prompt.' }),
    tool_context: jsonObject('Replaces the tool context of the thread.').optional(),
    context_policy: orNull(ContextPolicy).optional().openapi({ description: 'null: back to the policy of the agent.' }),
    register_tools: z.array(z.string().min(1).max(128)).max(200).optional(),
    unregister_tools: z.array(z.string().min(1).max(128)).max(200).optional(),
    context_ref: Id.optional().openapi({ description: 'The lane; default: the whole thread.' }),
  })
  .openapi('ConfigChange', { example: { system_prompt: 'You answer in one sentence.' } });

export const ConfigReceipt = z
  .object({
    status: z
      .enum(['applied', 'deferred'])
      .openapi({ description: 'deferred: the change is applied when the active run ends.' }),
    first_seq: z.int().nullable().openapi({ description: 'The first entry of the change.' }),
  })
  .openapi('ConfigReceipt');

export const ToolList = z
  .object({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    known: z
      .array(z.string())
      .openapi({ description: 'All tools this server knows: those of its agents, and shared ones.' }),
  })
  .openapi('ToolList', {
    description: 'Tools that the thread adds to or removes from any agent that runs on it.',
  });

export const Entry = z
  .object({
    seq: count('Position in the log, from 0, without gaps.', 3),
    kind: z.string().openapi({ example: 'ai_message' }),
    context_ref: z.string().nullable(),
    role: z.string().nullable(),
    op_id: z.string().nullable(),
    run_id: z.string().nullable(),
    request_id: z.string().nullable(),
    payload: jsonObject('Content of the entry.'),
    refs: jsonObject('Provenance.'),
    at: timestamp('When the entry was appended.'),
  })
  .openapi('Entry', { description: 'One row of the append-only log.' });

export const EntryPage = z.object({ data: z.array(Entry), next_after: next }).openapi('EntryPage');

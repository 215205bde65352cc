import { z } from '@hono/zod-openapi';
import { count, Id, jsonObject, next, timestamp } from './values.ts';

export const Thread = z
  .object({
    id: Id,
    tenant_id: Id,
    rev: count('Number of entries.', 5),
    active_context_ref: Id,
    active_run_id: Id.nullable().openapi({ description: 'The run that is queued, running or suspended.' }),
    metadata: jsonObject('Yours.'),
    state: jsonObject('State of the tools.'),
    parent_thread_id: Id.nullable(),
    fork_seq: z.int().nullable(),
    created_at: timestamp('When it was created.'),
    updated_at: timestamp('When it was last written to.'),
  })
  .openapi('Thread', { description: 'One conversation and its append-only log.' });

export const NewThread = z
  .strictObject({
    id: Id.optional().openapi({ description: 'Default: a new one.' }),
    tenant_id: Id.optional(),
    system_prompt: z.string().nullable().optional().openapi({ example: 'You help with orders.' }),
    metadata: jsonObject('Yours; kept with the thread.').optional(),
  })
  .openapi('NewThread', { example: { id: 'support-42', system_prompt: 'You help with orders.' } });

export const Config = z
  .object({
    system_prompt: z.string().nullable(),
    tools: z.object({ added: z.array(z.string()), removed: z.array(z.string()) }),
    tool_context: jsonObject('Merged over the tool context of the agent.'),
  })
  .openapi('Config', { description: 'What a thread says of prompt and tools, over what its agents say.' });

export const ConfigChange = z
  .strictObject({
    system_prompt: z.string().nullable().optional().openapi({ description: 'null: none.' }),
    tool_context: jsonObject('Replaces the tool context of the thread.').optional(),
    register_tools: z.array(z.string().min(1).max(128)).max(200).optional(),
    unregister_tools: z.array(z.string().min(1).max(128)).max(200).optional(),
    context_ref: Id.optional().openapi({ description: 'The lane; default: the whole thread.' }),
  })
  .openapi('ConfigChange', { example: { system_prompt: 'You answer in one sentence.' } });

export const ConfigReceipt = z
  .object({
    status: z
      .enum(['applied', 'deferred'])
      .openapi({ description: 'deferred: it is written when the active run has ended.' }),
    first_seq: z.int().nullable().openapi({ description: 'The first entry of the change.' }),
  })
  .openapi('ConfigReceipt');

export const ToolList = z
  .object({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    known: z
      .array(z.string())
      .openapi({ description: 'What this server knows: tools of its agents, and tools of none.' }),
  })
  .openapi('ToolList', {
    description: 'What the thread adds to and takes from the tools of whichever agent runs on it.',
  });

export const Entry = z
  .object({
    seq: count('Place in the log, from 0 without gaps.', 3),
    kind: z.string().openapi({ example: 'ai_message' }),
    context_ref: z.string().nullable(),
    role: z.string().nullable(),
    op_id: z.string().nullable(),
    run_id: z.string().nullable(),
    request_id: z.string().nullable(),
    payload: jsonObject('The entry itself.'),
    refs: jsonObject('Where it came from.'),
    at: timestamp('When it was appended.'),
  })
  .openapi('Entry', { description: 'One row of the log. Never changed, never deleted.' });

export const EntryPage = z.object({ data: z.array(Entry), next_after_seq: next('after_seq') }).openapi('EntryPage');

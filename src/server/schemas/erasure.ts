import { z } from '@hono/zod-openapi';
import { count, Id } from './values.ts';

const Removed = z
  .object({
    threads: count('Threads.', 1),
    entries: count('Entries of their logs.', 12),
    events: count('Events of their traces.', 40),
    runs: count('Runs.', 3),
    tool_calls: count('Tool calls.', 5),
    inputs: count('Inputs sent to runs.', 0),
    operations: count('Context operations.', 1),
    contents: count('Large texts.', 0),
    jobs: count('Jobs in the queue.', 3),
  })
  .openapi('Removed', { description: 'How many of each were removed.' });

const left = z
  .array(z.string())
  .openapi({ description: 'What was not removed, such as backups and data that model providers keep.' });

export const ErasureReport = z
  .object({
    thread_id: Id,
    tenant_id: Id,
    removed: Removed,
    child_threads: z.array(Id).openapi({
      description:
        'Threads of the agents that its runs called, and of those that these called. They keep their text: erase each of them ' +
        'too, unless it has become a conversation of its own.',
    }),
    left,
  })
  .openapi('ErasureReport', { description: 'What the erasure of a thread removed.' });

export const TenantErasureReport = z
  .object({
    tenant_id: Id,
    removed: Removed,
    busy: z
      .array(Id)
      .openapi({ description: 'Threads that were kept because a run is active on them. Cancel the run first.' }),
    more: z.boolean().openapi({ description: 'The tenant has more threads: repeat the request.' }),
    left,
  })
  .openapi('TenantErasureReport', { description: 'What the erasure of a tenant removed.' });

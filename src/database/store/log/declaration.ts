import { z } from 'zod';
import { after, count, date, Id, jsonObject, limit, named, orNull } from '../../../base/operations/schemas.ts';
import { marks } from '../trace/declaration.ts';
import { found, ofThreads, RunStatus, word } from '../run/declaration.ts';

export const RecordedThread = z.object({
  id: Id,
  tenantId: Id,
  rev: count('Number of entries.', 5),
  eventRev: count('Number of events. To stream only new events, start after `event_rev` - 1.', 12),
  activeContextRef: Id,
  activeRunId: orNull(Id).describe('The run that is queued, running or suspended.'),
  metadata: jsonObject('Your own data.'),
  state: jsonObject('State written by tools.'),
  parentThreadId: orNull(Id).describe('The thread it was forked from.'),
  forkSeq: z.int().nullable().describe('The last entry of the parent that the fork includes.'),
  createdAt: date('When the thread was created.'),
  updatedAt: date('When the thread was last written to.'),
});

const { id, tenantId, rev, metadata, createdAt, updatedAt } = RecordedThread.shape;

export const RecordedSummary = z
  .object({
    id,
    tenantId,
    rev,
    activeRunId: orNull(Id),
    metadata,
    parentThreadId: orNull(Id),
    createdAt,
    updatedAt,
    status: orNull(RunStatus).describe('Status of the active run, or else of the latest; null: no runs.'),
    runs: count('Number of runs, up to 1,000.', 2),
    totalTokens: count('Total tokens of these runs.', 4210),
    lastRun: z
      .object({
        id: Id,
        agent: z.string(),
        model: z.string(),
        status: RunStatus,
        errorType: z.string().nullable(),
        answered: z.boolean().nullable().describe('Whether the run ended with an answer; null until it ends.'),
        terminationReason: z.string().nullable().describe('Why the run ended; null until then.'),
        at: date('When the run was accepted.'),
        startAt: date('No worker starts the run before this time.').nullable(),
      })
      .nullable()
      .describe('The active run, or else the latest.'),
    lastMessage: z.string().nullable().describe('The first 200 characters of the message that started the latest run.'),
    marks: marks('its runs'),
    children: count('How many threads the tool calls of its runs have created.', 0),
  })
  .meta({ doc: 'A thread as lists show it, without its log and state.' });

export const ThreadFilter = z
  .object({
    ...ofThreads('Threads'),
    agent: word('Threads whose latest run has this agent.'),
    version: word('Threads whose latest run was taken by this version of its agent.'),
    status: RunStatus.optional().describe('Threads whose latest run has this status.'),
    ...found('Threads that have a run'),
    children: z.boolean().optional().describe('False: only threads that no tool call has created.'),
    startedBy: Id.optional().describe('Only threads that the tool calls of this thread have created.'),
    createdAfter: date('Threads created at this time or later.').optional(),
    createdBefore: date('Threads created before this time.').optional(),
    order: z
      .enum(['created', 'asked'])
      .optional()
      .describe(
        '`created` (default): by creation. `asked`: by when the newest run was accepted; threads without runs by creation. For a ' +
          'tenant, `asked` lists the newest 5,000 threads; on a database distributed by Citus, it orders by creation.',
      ),
    after,
    limit: limit(50),
  })
  .meta({ doc: 'Which threads to list.' });

export const ThreadEntry = named(
  'Entry',
  z
    .object({
      seq: count('Position in the log, from 0, without gaps.', 3),
      kind: z.string().meta({ example: 'ai_message' }),
      contextRef: z.string().nullable(),
      role: z.string().nullable(),
      opId: z.string().nullable(),
      runId: z.string().nullable(),
      requestId: z.string().nullable(),
      payload: jsonObject('Content of the entry.'),
      refs: jsonObject('Provenance.'),
      at: date('When the entry was appended.'),
    })
    .meta({ description: 'One row of the append-only log.' }),
);

export const AppendReceipt = named(
  'AppendReceipt',
  z
    .object({
      firstSeq: z.int(),
      rev: z
        .int()
        .describe('Current number of entries of the thread. For a duplicate, it includes entries appended since.'),
      duplicate: z.boolean(),
    })
    .meta({ example: { firstSeq: 5, rev: 6, duplicate: false } }),
);

export const ForkReceipt = z.object({
  id: z.string(),
  rev: z.int(),
  duplicate: z.boolean().describe('This fork existed already.'),
});

export const ContentRange = named(
  'ContentRange',
  z
    .object({
      id: Id,
      chars: count('Length of the whole text in characters (code points).', 412_000),
      bytes: count('Length of the whole text in bytes of UTF-8.', 415_310),
      offset: count('Where this part begins, in characters.', 0),
      text: z.string(),
      nextOffset: count('Where the next part begins; null at the end.', 65_536).nullable(),
    })
    .meta({ description: 'A part of a large text.' }),
);

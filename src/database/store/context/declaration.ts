import { z } from 'zod';
import { anyJson, count, Id, named, typed } from '../../../base/operations/schemas.ts';

export const Lane = named(
  'Lane',
  z
    .object({
      contextRef: Id,
      anchorSeq: count('`seq` of the anchor, the latest replace operation; -1: none.', -1),
      lastSeq: count('`seq` of the last entry of the lane.', 4),
      openCalls: count('Number of tool calls of the last message that have no result yet.', 0),
    })
    .meta({ description: 'A named context of a thread.' }),
);

export const ConfigReceipt = named(
  'ConfigReceipt',
  z.object({
    status: z.enum(['applied', 'deferred']).describe('deferred: the change is applied when the active run ends.'),
    firstSeq: z.int().nullable().describe('The first entry of the change.'),
  }),
);

export const OperationReceipt = named(
  'OperationReceipt',
  z
    .object({
      opId: Id,
      status: z.enum(['applied', 'deferred', 'duplicate', 'stale']).meta({
        description: 'deferred: a run is active; the operation is applied when it ends.',
        doc:
          '`deferred`: a run is active; the operation is applied when that run ends, unless a later one displaces it. `stale`: ' +
          'a compaction whose `baseSeq` lies before a newer anchor or inside a tool group; nothing changed.',
      }),
      opStatus: z.enum(['pending', 'applied', 'superseded', 'stale']),
      seq: z.int().nullable().describe('The entry of the operation, once applied.'),
    })
    .meta({ example: { opId: 'op-1', status: 'applied', opStatus: 'applied', seq: 7 } }),
);

const json = (description: string) => typed('Json', 'agent/context/message.ts', anyJson(description));

const place = (description: string) => z.int().nullable().describe(description);

export const DiffRow = z
  .object({
    change: z
      .enum(['same', 'removed', 'added'])
      .describe('removed: only in the first context; added: only in the second.'),
    ordinal: place('Position in the first context.'),
    seq: place('Its entry in the first thread.'),
    other_ordinal: place('Position in the second context.'),
    other_seq: place('Its entry in the second thread.'),
    role: z.string().meta({ example: 'user' }),
    content: json('A string or an array of parts.'),
    tool_calls: json('An array or null.'),
    tool_call_id: z.string().nullable(),
    name: z.string().nullable(),
  })
  .meta({ doc: 'A message of one of two contexts, or of both.' });

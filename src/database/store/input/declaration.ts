import { z } from 'zod';
import { StoredContent } from '../../../agent/models/content-schema.ts';
import { count, date, Id, named } from '../../../base/operations/schemas.ts';

const inputStatus = z.enum(['queued', 'injected', 'dropped']).meta({
  description:
    'queued: the run reads it before its next model call; injected: it is in the context; dropped: the run ended first.',
});

export const InputReceipt = named(
  'InputReceipt',
  z
    .object({
      inputId: Id,
      threadId: Id,
      runId: Id,
      status: inputStatus,
      duplicate: z.boolean().describe('true: the input had already been accepted.'),
    })
    .meta({ description: 'The run accepted the input.' }),
);

export const RunInput = named(
  'Input',
  z
    .object({
      id: Id,
      runId: Id,
      ordinal: count('Position among the inputs of the run, from 1.', 1),
      kind: z.enum(['steer', 'inject']),
      by: z.string(),
      content: StoredContent,
      status: inputStatus,
      entrySeq: z.int().nullable().describe('The entry of the resulting message.'),
      createdAt: date('When it was accepted.'),
      settledAt: date('When it became a message or was dropped.').nullable(),
    })
    .meta({ description: 'Input sent to an active run.' }),
);

import { z } from 'zod';
import { date, Id, named, orNull } from '../../../base/operations/schemas.ts';
import { Call, json, place, RunRef, RunStatus } from '../run/declaration.ts';

export const PendingWait = named(
  'PendingWait',
  z
    .object({
      threadId: Id,
      runId: Id,
      ...place,
      name: z.string().describe('The name of the tool.'),
      kind: z.enum(['event', 'time', 'run']),
      event: orNull(Id).describe('The event it waits for.'),
      run: orNull(RunRef).describe('The run it waits for.'),
      since: date('Since when it waits.'),
      until: date('When it ends by itself; null: never.').nullable(),
    })
    .meta({ description: 'A tool call that waits for an event, a time or another run.' }),
);

export const DecisionReceipt = named(
  'DecisionReceipt',
  z.object({
    threadId: Id,
    runId: Id,
    call: Call,
    decision: z.enum(['approved', 'denied']),
    by: z.string().nullable(),
    reason: z.string().nullable(),
    decidedAt: date('When the decision was made.'),
    duplicate: z.boolean().meta({
      description: 'true: the same decision had already been made.',
      doc: 'The same decision was made before; `by` and `reason` are from the first one.',
    }),
    status: RunStatus,
  }),
);

export const PendingApproval = named(
  'Approval',
  z
    .object({
      threadId: Id,
      runId: Id,
      agent: z.string(),
      ...place,
      name: z.string(),
      arguments: json('Arguments from the model.'),
      requestedAt: date('When the call began to wait.'),
      expiresAt: date('When the call is denied if it is still undecided.'),
      root: orNull(RunRef).describe('The root of its tree, if a tool call of another run started its run.'),
    })
    .meta({ description: 'A tool call that waits for human approval.' }),
);

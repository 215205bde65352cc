import { z } from 'zod';
import { count, date, Id, named, orNull } from '../../../base/operations/schemas.ts';
import { Call, RunRef } from '../run/declaration.ts';

export const PendingWait = named(
  'PendingWait',
  z
    .object({
      threadId: Id,
      runId: Id,
      call: Call,
      round: count('Tool round of the run, from 1.', 1),
      index: count('Position in the round, from 0.', 0),
      name: z.string().describe('The name of the tool.'),
      kind: z.enum(['event', 'time', 'run']),
      event: orNull(Id).describe('The event it waits for.'),
      run: orNull(RunRef).describe('The run it waits for.'),
      since: date('Since when it waits.'),
      until: date('When it ends by itself; null: never.').nullable(),
    })
    .meta({ description: 'A tool call that waits for an event, a time or another run.' }),
);

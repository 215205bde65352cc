import { z } from '@hono/zod-openapi';
import { Call, count, Id, orNull, timestamp } from './values.ts';

/** As `Id`, with a run's id as the example: by default a request has the same id. */
export const RunId = z.string().openapi({ example: 'run_01k7uumgdredk9mgulbgm9ll5m' });

export const RunRef = z
  .object({ thread_id: Id, id: RunId })
  .openapi('RunRef', { description: 'A run by its thread and id.' });

export const RunWait = z
  .object({
    call: Call,
    round: count('Tool round of the run, from 1.', 1),
    index: count('Position in the round, from 0.', 0),
    name: z.string().openapi({ description: 'The name of the tool.' }),
    kind: z.enum(['approval', 'event', 'time', 'run']),
    event: orNull(Id).openapi({ description: 'The event it waits for.' }),
    run: orNull(RunRef).openapi({ description: 'The run it waits for.' }),
    since: timestamp('Since when it waits.'),
    until: timestamp('When it ends by itself; null: never.').nullable(),
  })
  .openapi('RunWait', { description: 'A tool call that waits.' });

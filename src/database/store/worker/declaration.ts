import { z } from 'zod';
import { count, date, named, typed } from '../../../base/operations/schemas.ts';

/* What answers say of the workers of all processes, and of what they do. */

export const WorkerState = z.enum(['alive', 'draining', 'dead', 'stopped']).meta({
  description:
    '`draining`: takes no more runs and stops once its runs are done. `dead`: stopped reporting. `stopped`: shut down properly.',
});

export const ListedWorker = named(
  'Worker',
  z
    .object({
      id: z.string(),
      state: WorkerState,
      host: z.string().describe('The machine or container it runs on.'),
      pid: z.int(),
      version: z.string().describe('Version of the package.'),
      queue: z.string().meta({ description: 'Prefix of the queues it takes jobs from.', example: 'lf' }),
      agents: z.array(z.string()).meta({ doc: 'The agents it can execute, by name.' }),
      strategies: z.array(z.string()),
      concurrency: count('Maximum concurrent runs.', 20),
      runsHeld: count('Runs it held at its last heartbeat.', 3),
      startedAt: date('When it started.'),
      heartbeatAt: date('When it last reported.'),
      stoppedAt: date('When it shut down properly.').nullable(),
    })
    .meta({ description: 'A worker, in any process.' }),
);

export const FleetStats = z
  .object({
    runs: typed(
      "Record<'waiting' | 'queued' | 'running' | 'suspended', number>",
      undefined,
      z.record(z.string(), z.int()),
    ).describe('Unfinished runs by status.'),
    oldestQueuedSeconds: z
      .number()
      .describe(
        'How long ago the oldest queued run could have started or continued: it waits for a worker or a limit.',
      ),
    oldestReadySeconds: z.number().describe('The same for runs that wait only for a worker, not for a limit.'),
    oldestDueDeliverySeconds: z.number().meta({
      doc: 'How long the oldest due delivery of a webhook has been waiting for a worker; 0 if no delivery is due.',
    }),
    fleet: z
      .object({ alive: z.int(), draining: z.int(), dead: z.int() })
      .describe(
        'Number of workers by state; `dead` counts those that died in the last hour. `workers` lists those that hold runs.',
      ),
    jobs: z.array(z.object({ queue: z.string(), counts: z.record(z.string(), z.int()) })).meta({
      doc: 'Jobs by queue and state. Ended jobs count for as long as the queue keeps them. If a queue does not answer, there are no counts.',
    }),
  })
  .meta({ doc: 'The current state of the queue and of the workers. A time is 0 if nothing waits.' });

const MarkedRuns = z
  .array(z.object({ mark: z.string().describe('Kind of the mark.'), runs: count('How many runs have it.', 3) }))
  .describe('The runs that have marks, by mark, most first.');

const counted = {
  runs: count('Runs that were accepted.', 120),
  failed: count('How many of them failed.', 2),
  unanswered: count('How many of them completed without an answer: a limit ended them.', 1),
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedTokens: z.int(),
  cost: z.number().describe('In US dollars, at the providers’ list prices.'),
  unpricedTokens: z.int().describe('Tokens of models without a known price; `cost` does not include them.'),
  marks: MarkedRuns,
};

const wait = (share: string) =>
  z
    .number()
    .nullable()
    .describe(
      `${share} of the runs that a worker started waited for that no longer than this, from when they were accepted, or from their ` +
        '`start_at`. Estimated from steps of a factor of 1.4. Null: none was started.',
    );

export const FleetActivity = z
  .object({
    workers: z
      .array(
        z.object({
          id: z.string(),
          runs: count('Runs it holds.', 3),
          leaseUntil: date('When the latest of their leases expires.'),
          oldestRunAt: date('When the oldest of them started.'),
        }),
      )
      .meta({ doc: 'Workers that hold runs now.' }),
    errors: z
      .array(z.object({ type: z.string(), runs: z.int(), lastAt: date('When the last one ended.') }))
      .meta({ doc: 'Failed runs by error.' }),
    slots: z
      .array(
        z.object({
          at: date('Start of the slot.'),
          ...counted,
          unfinished: count('How many of them have not ended.', 0),
          waitP50Ms: wait('Half'),
          waitP95Ms: wait('95 %'),
        }),
      )
      .meta({
        doc: 'Runs, their tokens and their cost, by the time slot in which the runs were accepted, oldest first. Slots without runs are left out.',
      }),
    agents: z.array(z.object({ agent: z.string(), version: z.string().nullable(), ...counted })).meta({
      doc: 'The same of the whole period by agent and version, most runs first; of all agents, whichever was asked for.',
    }),
    deploys: z
      .array(
        z.object({
          at: date('When a worker first started with the version.'),
          agent: z.string(),
          version: z.string().describe('Id of the version.'),
          label: z.string().nullable().describe('Its label.'),
        }),
      )
      .meta({ doc: 'New versions of agents, oldest first; at most the newest 100.' }),
    slotMinutes: count('How long a slot is: it depends on the period.', 60),
    since: date('`errors`, `slots` and `agents` count the runs accepted since then: the start of a slot.'),
    until: date('The end of the period.'),
  })
  .meta({
    doc: 'The activity of the workers. Runs that had ended before their thread was erased stay counted.',
  });

import { z } from '@hono/zod-openapi';
import { count, timestamp } from './values.ts';

export const Activity = z
  .object({
    runs: z.record(z.string(), z.int()).openapi({ description: 'Unfinished runs by status.' }),
    oldest_queued_seconds: z.number().openapi({
      description:
        'How long ago the oldest queued run could have started or gone on: it waits for a worker or a limit.',
    }),
    oldest_ready_seconds: z
      .number()
      .openapi({ description: 'The same of the runs that wait for no limit, but only for a worker.' }),
    oldest_due_delivery_seconds: z.number(),
    fleet: z.object({ alive: z.int(), draining: z.int(), dead: z.int() }).openapi({
      description:
        'Number of workers by state; `dead` counts those that died in the last hour. `workers` lists those that hold runs.',
    }),
    jobs: z.array(z.object({ queue: z.string(), counts: z.record(z.string(), z.int()) })),
    workers: z.array(
      z.object({
        id: z.string(),
        runs: count('Runs it holds.', 3),
        lease_until: timestamp('When the latest of their leases expires.'),
        oldest_run_at: timestamp('When the oldest of them started.'),
      }),
    ),
    errors: z.array(z.object({ type: z.string(), runs: z.int(), last_at: timestamp('When the last one ended.') })),
    slots: z.array(
      z.object({
        at: timestamp('Start of the slot.'),
        runs: z.int(),
        failed: z.int(),
        input_tokens: z.int(),
        output_tokens: z.int(),
        cached_tokens: z.int(),
        cost: z.number().openapi({ description: 'In US dollars, at the providers’ list prices.' }),
        unpriced_tokens: z
          .int()
          .openapi({ description: 'Tokens of models without a known price; `cost` does not include them.' }),
      }),
    ),
    since: timestamp('`errors` and `slots` count the runs accepted since then: at most the newest 10,000.'),
  })
  .openapi('Activity', { description: 'Queue, workers, and the runs, errors, tokens and cost of the last hours.' });

export const Worker = z
  .object({
    id: z.string(),
    state: z.enum(['alive', 'draining', 'dead', 'stopped']).openapi({
      description:
        '`draining`: takes no more runs and stops once its runs are done. `dead`: stopped reporting. `stopped`: shut down properly.',
    }),
    host: z.string().openapi({ description: 'The machine or container it runs on.' }),
    pid: z.int(),
    version: z.string().openapi({ description: 'Version of the package.' }),
    queue: z.string().openapi({ description: 'Prefix of the queues it takes jobs from.', example: 'lf' }),
    agents: z.array(z.string()),
    strategies: z.array(z.string()),
    concurrency: count('Maximum concurrent runs.', 20),
    runs_held: count('Runs it held at its last heartbeat.', 3),
    started_at: timestamp('When it started.'),
    heartbeat_at: timestamp('When it last reported.'),
    stopped_at: timestamp('When it shut down properly.').nullable(),
  })
  .openapi('Worker', { description: 'A worker, in any process.' });

export const WorkerList = z.object({ data: z.array(Worker) }).openapi('WorkerList');

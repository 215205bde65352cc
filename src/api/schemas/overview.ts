import { z } from '@hono/zod-openapi';
import { Tool } from './call.ts';
import { anyJson, count, Id, nextCursor, timestamp } from './values.ts';

const AgentTool = Tool.extend({ needs_approval: z.boolean() }).openapi('AgentTool');

export const Agent = z
  .object({
    name: z.string(),
    model: z.string(),
    strategy: z.string().openapi({ example: 'react' }),
    instructions: z.string().nullable().openapi({ description: 'The system prompt of lanes without their own.' }),
    max_iterations: count('Model calls of a run at most.', 10),
    tools: z.array(AgentTool),
  })
  .openapi('Agent', { description: 'An agent as this server knows it.' });

export const AgentList = z.object({ data: z.array(Agent) }).openapi('AgentList');

export const Approval = z
  .object({
    thread_id: Id,
    run_id: Id,
    agent: z.string(),
    round: count('From 1.', 1),
    index: count('In its round, from 0.', 0),
    name: z.string(),
    arguments: anyJson('Arguments from the model.'),
    requested_at: timestamp('Since when the call waits.'),
    expires_at: timestamp('When it is denied if nobody decides.'),
  })
  .openapi('Approval', { description: 'A tool call that waits for human approval.' });

export const ApprovalPage = z.object({ data: z.array(Approval), next_after: nextCursor }).openapi('ApprovalPage');

export const Activity = z
  .object({
    runs: z.record(z.string(), z.int()).openapi({ description: 'Unfinished runs by status.' }),
    oldest_queued_seconds: z.number(),
    fleet: z
      .object({ alive: z.int(), draining: z.int(), dead: z.int() })
      .openapi({ description: 'Workers by state; dead ones of the last hour. `workers` are those that hold runs.' }),
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
        ...{ runs: z.int(), failed: z.int(), input_tokens: z.int(), output_tokens: z.int(), cached_tokens: z.int() },
        cost: z.number().openapi({ description: 'In US dollars, by the list prices of the providers.' }),
        unpriced_tokens: z
          .int()
          .openapi({ description: 'Tokens of models whose price nobody knows; `cost` is without them.' }),
      }),
    ),
    since: timestamp('Runs accepted since then are counted in `errors` and `slots`.'),
  })
  .openapi('Activity', { description: 'Queue, workers, and the runs, errors, tokens and cost of the last hours.' });

export const Worker = z
  .object({
    id: z.string(),
    state: z.enum(['alive', 'draining', 'dead', 'stopped']).openapi({
      description:
        '`draining`: takes no more runs and stops once those it has are done. `dead`: was silent for too long. `stopped`: ended on its own.',
    }),
    host: z.string().openapi({ description: 'Its machine or container.' }),
    pid: z.int(),
    version: z.string().openapi({ description: 'Of the package.' }),
    queue: z
      .string()
      .openapi({ description: 'First part of the names of the queues it takes jobs from.', example: 'lf' }),
    agents: z.array(z.string()),
    strategies: z.array(z.string()),
    concurrency: count('Runs it takes at once.', 20),
    runs_held: count('Runs it held at its last heartbeat.', 3),
    started_at: timestamp('When it started.'),
    heartbeat_at: timestamp('When it was last seen.'),
    stopped_at: timestamp('When it ended on its own.').nullable(),
  })
  .openapi('Worker', { description: 'A worker of any process.' });

export const WorkerList = z.object({ data: z.array(Worker) }).openapi('WorkerList');

import { z } from '@hono/zod-openapi';
import { namedIntervals, type LimitInterval, limitKinds, onExhausted } from '../../agent/limits/limit.ts';
import { count, Id, nextCursor, orNull, timestamp } from './values.ts';
import { RunStatus } from './run.ts';

const numbers = (description: string, example: object) =>
  z.record(z.string(), z.number()).optional().openapi({ description, example });
const amount = z.number().min(0).openapi({
  description: 'The most of it. A whole number; for `money` US dollars, with at most 9 decimal places.',
  example: 100_000,
});
const named = Object.keys(namedIntervals) as [LimitInterval];

const fields = {
  kind: z.enum(limitKinds).openapi({
    description:
      '`concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model ' +
      'calls in the interval.',
  }),
  amount,
  scope: z
    .record(z.string(), z.string())
    .optional()
    .openapi({
      description:
        'The runs it applies to, by dimension: `tenant`, `key`, `agent`, `model`, `provider`, `thread`, or one of the ' +
        '`limit_keys` of requests. With the value `*`, each value of the dimension has the amount for itself. Default: ' +
        'all runs together.',
      example: { customer: '*' },
    }),
  amounts: numbers(
    'Other amounts, by the value of the dimension with `*`. With several such dimensions, by their values in the ' +
      'alphabetical order of the dimensions, joined by `/`.',
    { acme: 500_000 },
  ),
  tokens: z
    .enum(['input', 'output', 'total'])
    .optional()
    .openapi({ description: 'Which tokens count, for the kind `tokens`; default `total`.' }),
  per: z
    .union([z.enum(named), z.int().min(1_000).max(2_678_400_000)])
    .optional()
    .openapi({
      description:
        'The interval, which slides: by name, or in ms, up to 31 days. Every kind except `concurrency` needs this or ' +
        '`calendar`.',
      example: 'minute',
    }),
  calendar: z
    .enum(['day', 'week', 'month'])
    .optional()
    .openapi({ description: 'The interval starts with each day, week (on Monday) or month.' }),
  time_zone: z
    .string()
    .optional()
    .openapi({ description: 'IANA time zone of `calendar`; default `UTC`.', example: 'Europe/Berlin' }),
  share: z.string().optional().openapi({
    description: 'The dimension whose values take turns when runs wait; default: the oldest run goes first.',
    example: 'customer',
  }),
  weights: numbers('How many turns a value of `share` gets while another one gets one, from 0.001 to 1,000.', {
    acme: 3,
  }),
  reserve: numbers(
    'What only runs with this value of `share` may use: for all others, the limit is lower by that much, and they do ' +
      'not delay them.',
    { interactive: 10 },
  ),
  on_exhausted: z
    .enum(onExhausted)
    .optional()
    .openapi({
      description:
        'Once the amount is used, a run that needs more waits (default), or ends with `budget_exhausted`. With `notice`, for ' +
        '`requests`, `tokens` and `money`, nothing is refused, and the run that passes it gets an event `limit_reached`.',
    }),
};

export const NewLimit = z.strictObject(fields).openapi('NewLimit', {
  example: { kind: 'tokens', tokens: 'output', amount: 100_000, per: 'minute', scope: { customer: '*' } },
});

const dollars = 'For `money` in US dollars.';
export const LimitUse = z
  .object({
    key: z.string().openapi({
      description: 'The values of the dimensions with `*` in the scope, joined by `/`; empty without such dimensions.',
      example: 'acme',
    }),
    amount: z.number().openapi({ description: 'The amount that applies to this key.', example: 500_000 }),
    used: z
      .number()
      .openapi({ description: `Used in the interval, including \`reserved\`. ${dollars}`, example: 1_200 }),
    reserved: z.number().openapi({ description: 'Taken by calls that have not ended.', example: 400 }),
    waiting: count('Runs that wait for it.', 0),
    total: z.number().openapi({ description: 'Everything that was ever used.', example: 81_000 }),
    resets_at: orNull(timestamp('When the calendar interval ends; null for other limits.')),
    noticed_at: orNull(timestamp('When a limit with `on_exhausted: notice` was last found to be passed.')),
    drained_until: orNull(timestamp('The provider asked to make no call before.')),
    slices: orNull(z.array(z.number())).openapi({
      description: 'Used in each 1/32 of a sliding interval, oldest first; null for other limits.',
    }),
    waiting_by: orNull(z.record(z.string(), z.int())).openapi({
      description: 'Runs that wait, by value of `share`: the ten with most.',
      example: { acme: 12 },
    }),
    cursor: z.string().openapi({ description: 'Pass it as `after` to list the keys of the limit after this one.' }),
  })
  .openapi('LimitUse');

const kept = {
  name: Id,
  tenant: orNull(Id).openapi({
    description: 'The tenant that set it, for its own runs. Null: the operator, for all runs.',
  }),
  ...fields,
  created_at: timestamp('When it was first set.'),
  updated_at: timestamp('When it was last changed.'),
  updated_by: z.string().openapi({ description: '`operator`, `key:<id>` or `cli:<user>`.' }),
};

export const Limit = z.object(kept).openapi('Limit');

export const LimitHolder = z
  .object({
    name: Id,
    tenant: kept.tenant,
    kind: fields.kind,
    key: LimitUse.shape.key,
    amount: z.number().openapi({ description: `What it holds. ${dollars}`, example: 1 }),
    thread_id: Id,
    run_id: Id,
    agent: z.string(),
    status: RunStatus,
    worker_id: orNull(z.string()).openapi({ description: 'The worker that executes it; null: none.' }),
    since: timestamp('When the run started. Before its first claim, when it could have started.'),
  })
  .openapi('LimitHolder', {
    description: 'A run that holds a slot of a limit, or has reserved some of it for a call.',
  });

export const LimitHolderPage = z
  .object({ data: z.array(LimitHolder), next_after: nextCursor })
  .openapi('LimitHolderPage');

export const LimitList = z
  .object({
    data: z.array(
      z
        .object({
          ...kept,
          usage: z.array(LimitUse).openapi({
            description: 'First the keys that runs wait for, then the others, each in the order of the keys.',
          }),
          next_after: nextCursor,
        })
        .openapi('UsedLimit'),
    ),
  })
  .openapi('LimitList');

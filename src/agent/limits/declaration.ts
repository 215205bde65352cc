import { z } from 'zod';
import { named, typed } from '../../base/operations/schemas.ts';
import { limitKinds, namedIntervals, onExhausted, type LimitInterval } from './limit.ts';

const names = Object.keys(namedIntervals) as LimitInterval[];
const minMs = 1_000;
const maxMs = 31 * 86_400_000;

const numbers = z.record(z.string(), z.number()).optional();

const LimitKind = typed('LimitKind', 'agent/limits/limit.ts', z.enum(limitKinds)).meta({
  description:
    '`concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model ' +
    'calls in the interval.',
});

/** What a limit says, as callers set and read it. */
export const limitFields = {
  kind: LimitKind,
  amount: z
    .number()
    .min(0)
    .meta({
      description:
        'The largest amount that the limit lets pass: a whole number, or for `money` US dollars with at most 9 decimal places.',
      doc:
        'The largest amount that the limit lets pass: a whole number, or for `money` US dollars with at most 9 decimal places. With 0, nothing passes: runs ' +
        'wait for a limit of runs, and are refused by one of model calls.',
      example: 100_000,
    }),
  scope: z
    .record(z.string(), z.string())
    .optional()
    .meta({
      description:
        'The runs it applies to, by dimension: `tenant`, `key`, `agent`, `model`, `provider`, `thread`, or one of the ' +
        '`limit_keys` of requests. With the value `*`, each value of the dimension has the amount for itself. Default: ' +
        'all runs together.',
      example: { customer: '*' },
    }),
  amounts: numbers.meta({
    description:
      'Other amounts, by the value of the dimension with `*`. With several such dimensions, by their values in the ' +
      'alphabetical order of the dimensions, joined by `/`.',
    example: { acme: 500_000 },
  }),
  tokens: z
    .enum(['input', 'output', 'total'])
    .optional()
    .meta({ description: 'Which tokens count, for the kind `tokens`; default `total`.' }),
  per: z
    .union([z.enum(names as [LimitInterval]), z.int().min(minMs).max(maxMs)], {
      error: `must be ${names.join(', ')}, or a whole number of ms from ${minMs} to ${maxMs}`,
    })
    .optional()
    .meta({
      description:
        'The interval, which slides: by name, or in ms, up to 31 days. Every kind except `concurrency` needs this or ' +
        '`calendar`.',
      example: 'minute',
    }),
  calendar: z
    .enum(['day', 'week', 'month'])
    .optional()
    .meta({ description: 'The interval starts with each day, week (on Monday) or month.' }),
  timeZone: z
    .string()
    .optional()
    .meta({ description: 'IANA time zone of `calendar`; default `UTC`.', example: 'Europe/Berlin' }),
  shareBy: z.string().optional().meta({
    description: 'The dimension whose values take turns when runs wait; default: the oldest run goes first.',
    example: 'customer',
  }),
  shares: numbers.meta({
    description:
      'How many turns a value of `share_by` gets while another one gets one, from 0.001 to 1,000; default 1.',
    example: { acme: 3 },
  }),
  reserve: numbers.meta({
    description:
      'What only runs with this value of `share_by` may use: for all others, the limit is lower by that much, and they do ' +
      'not delay them.',
    example: { interactive: 10 },
  }),
  onExhausted: typed('OnExhausted', 'agent/limits/limit.ts', z.enum(onExhausted))
    .optional()
    .meta({
      description:
        'Once the amount is used, a run that needs more waits (default), or ends with `budget_exhausted`. With `notice`, for ' +
        '`requests`, `tokens` and `money`, nothing is refused, and the run that passes it gets an event `limit_reached`.',
      doc:
        'What happens once the amount is used: a run that needs more waits (`wait`, default), or ends with `budget_exhausted` ' +
        'and the best result it has (`end`). With `notice`, for `requests`, `tokens` and `money`, nothing is refused: the run ' +
        'that passes the amount gets an event `limit_reached`, once per key and interval.',
    }),
};

export const LimitDefinition = named(
  'NewLimit',
  z.strictObject(limitFields).meta({
    doc: 'A limit, as you set it.',
    example: { kind: 'tokens', tokens: 'output', amount: 100_000, per: 'minute', scope: { customer: '*' } },
  }),
);

import { z } from 'zod';
import { limitFields, LimitDefinition } from '../../../agent/limits/declaration.ts';
import { noun } from '../../../base/operations/operation.ts';
import {
  after,
  by,
  count,
  date,
  Id,
  limit,
  named,
  nextAfter,
  orNull,
  pageOf,
  whole,
} from '../../../base/operations/schemas.ts';
import { RunStatus } from '../../../database/store/run/declaration.ts';

const tenant = orNull(Id).meta({
  description:
    'The tenant that has set the limit, for its own runs. Null: the operator has set the limit, for all runs.',
});

const listed = {
  name: Id,
  tenant,
  ...limitFields,
  createdAt: date('When it was first set.'),
  updatedAt: date('When it was last changed.'),
  updatedBy: z.string().describe('`operator`, `key:<id>` or `cli:<user>`.'),
};

export const ListedLimit = named('Limit', z.object(listed).meta({ doc: 'A limit in force.' }));

const dollars = 'For `money` in US dollars.';

const use = {
  key: z.string().meta({
    description: 'The values of the dimensions with `*` in the scope, joined by `/`; empty without such dimensions.',
    example: 'acme',
  }),
  amount: z.number().meta({ description: 'The amount that applies to this key.', example: 500_000 }),
  used: z.number().meta({ description: `Used in the interval, including \`reserved\`. ${dollars}`, example: 1_200 }),
  reserved: z.number().meta({ description: 'Taken by calls that have not ended.', example: 400 }),
  waiting: count('Runs that wait for it.', 0),
  total: z.number().meta({ description: 'All usage so far.', example: 81_000 }),
  resetsAt: orNull(date('When the calendar interval ends; null for other limits.')),
  noticedAt: orNull(date('When usage last exceeded a limit with `on_exhausted: notice`.')),
  drainedUntil: orNull(date('Until this time, the provider has asked for no calls.')),
  slices: orNull(z.array(z.number())).meta({
    description: 'Used in each 1/32 of a sliding interval, oldest first; null for other limits.',
  }),
  waitingBy: orNull(z.record(z.string(), z.int())).meta({
    description: 'Number of waiting runs by value of `share_by`, for the ten values with the most waiting runs.',
    doc: 'Number of waiting runs by value of `shareBy`, for the ten values with the most waiting runs. Null without `shareBy`, or if no run waits.',
    example: { acme: 12 },
  }),
  cursor: z.string().describe('Pass it as `after` to list the keys of the limit after this one.'),
};

const LimitUse = named('LimitUse', z.object(use));

export const LimitUsage = z
  .object({ name: z.string(), tenant, kind: limitFields.kind, ...use })
  .meta({ doc: 'What one value of the scope has used of a limit.' });

export const LimitUsageOptions = z.strictObject({
  name: Id.optional().describe('Only of limits with this name.'),
  after: z
    .string()
    .min(1)
    .max(4_000)
    .optional()
    .describe('The `cursor` of a key: list the keys of the same limit after this key.'),
  limit: whole(1, 1_000).optional().describe('Keys of each limit; default 100.'),
});

const LimitList = named(
  'LimitList',
  z.object({
    data: z.array(
      named(
        'UsedLimit',
        z.object({
          ...listed,
          usage: z.array(LimitUse).meta({
            description: 'First the keys that runs wait for, then the others, each in the order of the keys.',
          }),
          nextAfter,
        }),
      ),
    ),
  }),
);

export const LimitHolder = named(
  'LimitHolder',
  z
    .object({
      name: Id,
      tenant,
      kind: limitFields.kind,
      key: use.key,
      amount: z.number().meta({ description: `The amount that the run holds. ${dollars}`, example: 1 }),
      threadId: Id,
      runId: Id,
      agent: z.string(),
      status: RunStatus,
      workerId: orNull(z.string()).meta({ description: 'The worker that executes it; null: none.' }),
      since: date('When the run started; before its first claim, when the run became ready to start.'),
    })
    .meta({ description: 'A run that holds a slot of a limit, or has reserved some of it for a call.' }),
);

const held = {
  key: z.string().max(2_000).optional().describe('Only of this key of the limit.'),
  after,
  limit: limit(100),
};

export const LimitHoldersOptions = z.strictObject({
  name: Id.optional().describe('Only of limits with this name.'),
  ...held,
});

const owner = {
  tenant: Id.optional().meta({
    description: 'The tenant whose limit it is; default: the tenant of the key, else the operator.',
    doc: 'The tenant whose limit it is; default: the tenant of the library, else the operator, for all runs.',
  }),
};

export const limits = noun(
  'limits',
  'Limits',
  {
    set: {
      id: 'setLimit',
      route: 'PUT /v1/limits/{name}',
      summary: 'Set or replace a limit',
      description:
        'What was used stays used, and runs that wait continue if they now may. A limit of a tenant applies to its runs only.',
      doc:
        'Sets a limit, or replaces it; what was used stays used, and runs that wait continue if they now may. Setting a ' +
        'limit to what it is changes nothing. Workers notice at once.',
      query: owner,
      body: LimitDefinition,
      own: { by },
      answer: { description: 'The limit.', schema: ListedLimit },
      errors: ['invalid_id', 'invalid_input'],
    },
    remove: {
      id: 'removeLimit',
      route: 'DELETE /v1/limits/{name}',
      summary: 'Remove a limit',
      description: 'Runs that wait for it continue.',
      query: owner,
      own: { by },
      answer: { description: 'The limit is removed.' },
      errors: ['limit_not_found'],
    },
    holders: {
      id: 'listLimitHolders',
      route: 'GET /v1/limits/{name}/holders',
      scope: 'read',
      summary: 'List the runs that hold a slot of a limit, or have reserved some of it',
      description:
        'The longest first. A key of a tenant sees its own runs, also on limits of the operator. Empty for a limit that does not exist.',
      query: held,
      // the library also lists the holders of all limits
      byHand: true,
      answer: { description: 'A page of runs.', schema: pageOf('LimitHolderPage', LimitHolder) },
      client: true,
    },
  },
  {
    listLimits: {
      id: 'listLimits',
      route: 'GET /v1/limits',
      scope: 'read',
      summary: 'List the limits, and what was used of them',
      description: 'A key of a tenant sees the limits of the tenant.',
      query: {
        name: Id.optional().describe('Only limits with this name.'),
        after: LimitUsageOptions.shape.after.describe(
          'The `next_after` of a limit: only that limit, with its next keys.',
        ),
        limit: LimitUsageOptions.shape.limit,
      },
      answer: { description: 'The limits, by tenant and name.', schema: LimitList },
      client: true,
    },
  },
);

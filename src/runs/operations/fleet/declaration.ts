import { z } from 'zod';
import { noun, type Operation } from '../../../base/operations/operation.ts';
import { by, date, Id, named, text, typed, whole } from '../../../base/operations/schemas.ts';
import { FleetActivity, FleetStats, ListedWorker } from '../../../database/store/worker/declaration.ts';
import { KeyLimits } from '../../../database/store/access/declaration.ts';

const tag = 'Operations';
const hours = (most: number, fallback: number) =>
  whole(1, most).optional().describe(`Hours to look back; default ${fallback}.`);

export const workers = noun('workers', tag, {
  list: {
    id: 'listWorkers',
    route: 'GET /v1/workers',
    scope: 'read',
    everywhere: true,
    summary: 'List the workers that are alive, then those that recently stopped or died',
    doc:
      'The workers that are alive, then those that stopped or died within `hours`, newest first; at most 1,000 workers.\n\n' +
      "@example\nconst alive = (await lanefold.workers.list()).filter(({ state }) => state === 'alive');",
    query: { hours: hours(24 * 30, 1) },
    answer: { description: 'The workers, at most 1,000.', schema: z.array(ListedWorker) },
  },
});

const Activity = named(
  'Activity',
  z
    .object({ ...FleetStats.shape, ...FleetActivity.shape })
    .meta({ description: 'Queue, workers, and the runs, marks, errors, tokens and cost of a period.' }),
);

export const FleetHealth = z
  .object({ database: z.unknown().optional(), queue: z.unknown().optional() })
  .meta({ doc: 'The error of each service that does not answer; absent for a healthy one.' });

export const WorkReport = named(
  'WorkReport',
  z
    .object({
      ended: whole(0).describe('Runs that the worker ended, or suspended for approval.'),
      released: whole(0).describe('Runs that it released for other workers, because the time was over.'),
      idle: z.boolean().describe('Nothing was due any more; false: the time was over before.'),
    })
    .meta({ description: 'What a worker did in a bounded time.' }),
);

const WorkRequest = named(
  'WorkRequest',
  z
    .strictObject({
      maxSeconds: whole(1, 3_600).optional().describe('How long it works at most, in seconds; default 55.'),
      concurrency: whole(1, 1_000).optional().describe('Runs executed at once; default 20.'),
    })
    .meta({ description: 'For how long a server works.', example: { maxSeconds: 55 } }),
);

/** What the API alone offers of it. */
const requests = {
  work: {
    id: 'work',
    route: 'POST /v1/work',
    scope: 'admin',
    about: 'nothing',
    everywhere: true,
    summary: 'Have this server work for a bounded time',
    description:
      'Starts a worker in the process of this server, which does what is due: sweeps, schedules, webhooks, and every run that ' +
      'waits for nothing but a worker. The answer comes once nothing is due, or the time is over. For platforms that run code ' +
      'during requests alone: call it from their scheduler. Instead of a key, the request may have a signature in the headers ' +
      'of Standard Webhooks, by a secret in `LANEFOLD_WORK_SECRET`. Answers 503 `server_busy` while an earlier request works.',
    body: WorkRequest,
    bodyIs: 'options',
    answer: { description: 'What it did.', schema: WorkReport },
  },
} satisfies Record<string, Operation>;

/** What the library says of all processes together. */
export const library = noun(
  'library',
  tag,
  {
    activity: {
      id: 'getActivity',
      route: 'GET /v1/activity',
      scope: 'read',
      about: 'nothing',
      everywhere: true,
      summary: 'Read the state of queue and workers, and the runs, marks, errors, tokens and cost of a period',
      doc: 'Workers, and runs, marks, errors, tokens and cost over time.',
      query: {
        hours: hours(24 * 366, 24),
        since: date('Start of the period, instead of `hours`; at most 366 days before its end.').optional(),
        until: date('End of the period; default now.').optional(),
        agent: text(128).optional().describe('Count the runs of one agent.'),
        version: text(128).optional().describe('Count the runs of one version of it, by its id.'),
      },
      answer: { description: 'The activity.', schema: Activity },
      returns: FleetActivity,
    },
    stats: {
      id: 'readStats',
      scope: 'read',
      summary: 'Count unfinished runs, workers and jobs',
      doc: 'Counts of unfinished runs, of workers and of jobs.',
      answer: { description: 'The counts.', schema: FleetStats },
    },
    health: {
      id: 'checkHealth',
      scope: 'read',
      summary: 'Check whether the database and the queue answer',
      doc:
        'Whether the database and the queue answer; never rejects. While a queue in Redis does not answer, runs are accepted: ' +
        'workers find them once it does.',
      own: { queueTimeoutMs: whole(1).optional().describe('How long the queue may take; default 3,000.') },
      answer: { description: 'What does not answer.', schema: FleetHealth },
    },
  },
  requests,
);

const TenantSettings = typed(
  'TenantSettings',
  'database/store/tenant/tenant-settings.ts',
  z.object({ tenant: Id, limits: KeyLimits, chained: z.boolean() }),
);

const params = { tenant: Id };

/** Only the operator of a program sets tenants: the API has no such operation. */
export const tenants = noun('tenants', tag, {
  configure: {
    id: 'configureTenant',
    summary: 'Change settings of a tenant',
    doc:
      'Changes only the settings given. `limits` apply to all keys of the tenant together and replace the previous limits; ' +
      'servers notice within ten seconds. With `chained`, threads that the tenant creates from now on have tamper evidence.',
    params,
    body: z.strictObject({ limits: KeyLimits.optional(), chained: z.boolean().optional() }),
    bodyName: 'settings',
    own: { by },
    answer: { description: 'The settings.', schema: TenantSettings },
    errors: ['invalid_id', 'invalid_input'],
  },
  limits: {
    id: 'getTenantLimits',
    scope: 'read',
    summary: 'The limits of a tenant; undefined if it has no settings',
    params,
    answer: { description: 'The limits.', schema: KeyLimits.optional() },
  },
  list: {
    id: 'listTenants',
    scope: 'read',
    summary: 'The tenants that have settings',
    answer: { description: 'The tenants.', schema: z.array(TenantSettings) },
  },
});

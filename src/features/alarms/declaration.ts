import { z } from 'zod';
import { noun } from '../../base/operations/operation.ts';
import { by, count, date, Id, named, orNull, tenantOf, whole } from '../../base/operations/schemas.ts';
import { RunSelection } from '../../database/store/run/declaration.ts';

const day = 86_400_000;

/** The fields of an alarm are those of a filter of runs. The time and the tenant are the alarm's own. */
export const AlarmFilter = named(
  'AlarmFilter',
  RunSelection.omit({ createdAfter: true, createdBefore: true, tenantId: true }).meta({
    doc: 'The runs that an alarm counts: a filter of `runs.list` without times.',
    example: { status: 'failed', agent: 'support' },
  }),
);

const rule = {
  filter: AlarmFilter.describe('The runs that count.'),
  moreThan: whole(0, 9_999).meta({
    description: 'The alarm is raised when more runs than this match.',
    doc: 'The alarm is raised when more runs than this match; default 0. The newest 10,000 runs are looked at.',
    example: 10,
  }),
  share: z.number().gt(0).lt(1).meta({
    description:
      'And when they are more than this share of all runs of the agent, version, model and threads of the filter.',
    example: 0.2,
  }),
  withinMs: whole(60_000, 7 * day).meta({
    description: 'Runs that were accepted within this time count, in ms.',
    doc: 'Runs that were accepted within this time count. Choose more time than runs take.',
    example: 600_000,
  }),
  clearAfterMs: whole(0, day).meta({
    description: 'How long no more than that must match before the alarm is cleared, in ms.',
    doc: 'How long no more than that must match before the alarm is cleared; default one minute.',
    example: 60_000,
  }),
};

export const AlarmDefinition = named(
  'NewAlarm',
  z
    .strictObject({
      filter: rule.filter,
      moreThan: rule.moreThan.optional(),
      share: rule.share.optional(),
      withinMs: rule.withinMs.optional(),
      clearAfterMs: rule.clearAfterMs.optional(),
    })
    .meta({
      doc: 'An alarm, as you set it. `withinMs` is ten minutes by default.',
      example: { filter: { status: 'failed', agent: 'support' }, moreThan: 10, withinMs: 600_000 },
    }),
);

export const ListedAlarm = named(
  'Alarm',
  z
    .object({
      name: Id,
      tenant: Id.describe('The tenant whose runs it counts.'),
      ...rule,
      share: orNull(rule.share),
      raisedAt: orNull(date('Since when it is raised.')),
      runs: orNull(count('How many runs matched at the last count.', 3)),
      allRuns: orNull(count('How many runs there were at the last count, for `share`.', 40)),
      countedAt: orNull(date('When a worker last counted.')),
      pausedAt: orNull(date('Since when it is paused.')),
      createdAt: date('When it was first set.'),
      updatedAt: date('When it was last changed.'),
      updatedBy: z.string().describe('`operator`, `key:<id>` or `cli:<user>`.'),
    })
    .meta({ doc: 'An alarm with its state. If `countedAt` stalls, no worker of the shared queue is alive.' }),
);

export const AlarmCount = named(
  'AlarmCount',
  z
    .object({
      at: date('When the five minutes began.'),
      runs: count('The highest count of runs that matched.', 3),
      allRuns: orNull(count('How many runs there were then, for `share`.', 40)),
      raised: z.boolean().describe('Whether too many runs matched.'),
    })
    .meta({ doc: 'What an alarm counted in five minutes.' }),
);

const tenant = tenantOf('alarm');
const answer = { description: 'The alarm.', schema: ListedAlarm };
const errors = ['alarm_not_found'] as const;

export const alarms = noun('alarms', 'Alarms', {
  list: {
    id: 'listAlarms',
    route: 'GET /v1/alarms',
    scope: 'read',
    client: true,
    summary: 'List the alarms',
    description: 'A key of a tenant sees the alarms of the tenant.',
    answer: { description: 'The alarms, by tenant and name.', schema: z.array(ListedAlarm) },
  },
  get: {
    id: 'getAlarm',
    route: 'GET /v1/alarms/{name}',
    scope: 'read',
    client: true,
    summary: 'Get an alarm',
    query: { tenant },
    answer,
    errors,
  },
  set: {
    id: 'setAlarm',
    route: 'PUT /v1/alarms/{name}',
    client: true,
    summary: 'Set or change an alarm',
    description:
      'Workers count the runs that match. Webhooks get `alarm.raised` and `alarm.cleared`, each once. A change keeps the counts and clears the alarm.',
    doc:
      'Sets or changes an alarm: workers count the runs that match its filter, and webhooks get `alarm.raised` and ' +
      '`alarm.cleared`, each once. Setting it to what it is changes nothing. A change keeps its counts and clears it; a paused ' +
      'alarm stays paused.\n\n' +
      "@example\nawait lanefold.alarms.set('many-failures', { filter: { status: 'failed' }, moreThan: 10, withinMs: 600_000 });",
    query: { tenant },
    body: AlarmDefinition,
    own: { by },
    answer,
    errors: ['invalid_input'],
  },
  remove: {
    id: 'removeAlarm',
    route: 'DELETE /v1/alarms/{name}',
    client: true,
    summary: 'Remove an alarm and its counts',
    query: { tenant },
    own: { by },
    answer: { description: 'The alarm is removed.' },
    errors,
  },
  pause: {
    id: 'pauseAlarm',
    route: 'POST /v1/alarms/{name}/pause',
    client: true,
    summary: 'Pause an alarm',
    description: 'It is cleared, and not counted until it is resumed.',
    query: { tenant },
    own: { by },
    answer,
    errors,
  },
  resume: {
    id: 'resumeAlarm',
    route: 'POST /v1/alarms/{name}/resume',
    client: true,
    summary: 'Resume a paused alarm',
    query: { tenant },
    own: { by },
    answer,
    errors,
  },
  counts: {
    id: 'listAlarmCounts',
    route: 'GET /v1/alarms/{name}/counts',
    scope: 'read',
    client: true,
    summary: 'List what an alarm counted over time, the oldest first',
    description: 'One item for each five minutes in which a worker has counted; kept for a week.',
    query: { tenant, since: date('Only counts since then; default: of the last day.').optional() },
    answer: { description: 'The counts.', schema: z.array(AlarmCount) },
    errors,
  },
});

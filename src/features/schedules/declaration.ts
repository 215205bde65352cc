import { z } from 'zod';
import { optionFields } from '../../agent/definition/options.ts';
import { hideValues } from '../../agent/definition/version.ts';
import { Content } from '../../agent/models/content-schema.ts';
import { may, type Principal } from '../../base/access/principal.ts';
import { noun } from '../../base/operations/operation.ts';
import {
  after,
  by,
  count,
  date,
  from,
  Id,
  limit,
  named,
  orNull,
  pageOf,
  tenantOf,
  whole,
} from '../../base/operations/schemas.ts';
import { RunRequest } from '../../runs/operations/runs/declaration.ts';
import type { ListedSchedule as Listed } from './types.ts';

export const Overlap = z
  .enum(['skip', 'queue', 'interrupt'])
  .meta({ doc: 'What a slot does if the run of an earlier slot has not ended.' });

export const CatchUp = z
  .enum(['none', 'one', 'all'])
  .meta({ doc: 'Which late slots still run: slots that no worker handled in time.' });

export const ScheduleRunOptions = z
  .strictObject({
    ...optionFields({ schedule: true }),
    ttlMs: RunRequest.shape.ttlMs,
    extraRefs: RunRequest.shape.extraRefs,
  })
  .meta({ doc: 'Options of the runs of a schedule, as in `runs.enqueue`.' });

const fields = {
  agent: z.string().min(1).meta({ example: 'reporter' }),
  input: Content.meta({
    description:
      'The user message of each run. In texts, `{{slot}}` is the time of the slot in ISO 8601, `{{date}}` and `{{time}}` its ' +
      'date and time in the time zone, and `{{previous}}` that of the last slot before it that started a run.',
    example: 'Write the report of {{date}}.',
  }),
  cron: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({
      description: 'Five fields, six with seconds in front, or a nickname such as `@daily`. Either this or `every_ms`.',
      doc:
        'A cron expression: five fields (minute, hour, day of the month, month, day of the week), six with seconds in front, ' +
        'seven with a year at the end, or a nickname such as `@daily`. Either this or `everyMs`. A fixed time that a change ' +
        'of the clock skips comes right after the change; one that occurs twice counts once. If the second, minute or hour ' +
        'has `*` or a step, slots follow the clock: none in the missing hour, and slots in both passes through the repeated one.',
      example: '0 6 * * MON-FRI',
    }),
  everyMs: whole(1_000, 366 * 86_400_000)
    .optional()
    .meta({
      description: 'The interval, counted from `start_at`, or from 1970 without `start_at`.',
      doc: 'From 1,000 ms to 366 days. Counted from `startAt`, or from 1970 without `startAt`, so that every process has the same slots.',
    }),
  timeZone: z.string().optional().meta({
    description: 'IANA time zone; default `UTC`.',
    doc: 'IANA time zone of `cron` and of the times in the input; default `UTC`.',
    example: 'Europe/Berlin',
  }),
  startAt: date('No slot is before this time.').meta({ doc: 'No slot is before this time.' }).optional(),
  endAt: date('Every slot is before this time.').meta({ doc: 'Every slot is before this time.' }).optional(),
  threadId: Id.optional().meta({
    description:
      'The thread that all its runs continue, created if it does not exist; default: a new one for each run.',
  }),
  overlap: Overlap.optional().meta({
    description:
      'While the run of an earlier slot has not ended: `skip` (default), the slot passes; `queue`, it waits; `interrupt`, ' +
      'the earlier run is cancelled.',
  }),
  catchUp: CatchUp.optional().meta({
    description: 'Which late slots still run: `none`, only the newest (`one`, default), or `all`.',
    doc:
      'Of the slots that no worker saw in time and those that have come since, run only the newest `one` (default), or ' +
      '`all`, up to 1,000 late ones; `none`: only those on time.',
  }),
  jitterMs: whole(0, 3_600_000).optional().meta({
    description: 'Each slot is delayed by up to this much.',
    doc: 'Delays each slot by up to this much, up to an hour; the delay of a given slot is always the same. Default 0.',
  }),
  options: ScheduleRunOptions.optional().meta({
    description: 'Options of its runs, as in the request of a run.',
    doc: 'Overrides and options of its runs, as in `runs.enqueue`.',
    example: { maxCost: 0.5 },
  }),
};

export const ScheduleDefinition = named(
  'NewSchedule',
  z.strictObject(fields).meta({
    doc: 'A schedule, as you set it. One of `cron` and `everyMs` is needed.',
    example: {
      agent: 'reporter',
      input: 'Write the report of {{date}}.',
      cron: '0 6 * * *',
      timeZone: 'Europe/Berlin',
    },
  }),
);

export const ListedSchedule = named(
  'Schedule',
  z
    .object({
      name: Id,
      tenant: Id.describe('The tenant whose runs it starts.'),
      ...fields,
      next: z
        .array(date('A slot.'))
        .describe('The next five slots; empty while the schedule is paused, and after its end.'),
      pausedAt: orNull(date('Since when it is paused.')),
      source: z.enum(['code', 'user']).meta({
        description: '`code`: a program defines it.',
        doc: '`code`: defined by a program. `user`: set through the library, HTTP, the command line or the page.',
      }),
      version: count('Rises with every change.', 3),
      createdAt: date('When it was first set.'),
      updatedAt: date('When it was last changed.'),
      updatedBy: z.string().describe('`operator`, `key:<id>`, `cli:<user>` or `code`.'),
    })
    .meta({ doc: 'A schedule with its state.' }),
);

export const ScheduleSlot = named(
  'ScheduleSlot',
  z
    .object({
      slot: date('The time of the slot, without jitter.'),
      dueAt: date('When the slot starts its run: the time of the slot plus its jitter.'),
      status: z.enum(['due', 'firing', 'fired', 'skipped', 'missed', 'failed']),
      settledAt: orNull(date('When the status became final.')),
      threadId: orNull(Id),
      runId: orNull(Id),
      error: orNull(z.object({ code: z.string(), message: z.string() })).describe('Why it failed.'),
    })
    .meta({ doc: 'A slot whose time has come, and its outcome.' }),
);

/** The tool context of its runs, which may hold secrets, is shown to keys that may set schedules. */
function shownTo(principal: Principal, schedule: Listed): Listed {
  const { options } = schedule;
  if (!options?.toolContext || may(principal, 'admin')) return schedule;
  return {
    ...schedule,
    options: { ...options, toolContext: hideValues(options.toolContext) as typeof options.toolContext },
  };
}

const tenant = tenantOf('schedule');
const answer = { description: 'The schedule.', schema: ListedSchedule };
const errors = ['schedule_not_found'] as const;
const show = (schedule: Listed, principal: Principal) => shownTo(principal, schedule);

export const schedules = noun('schedules', 'Schedules', {
  list: {
    id: 'listSchedules',
    route: 'GET /v1/schedules',
    scope: 'read',
    summary: 'List the schedules, with their next five slots',
    description:
      'A key of a tenant sees the schedules of the tenant. Values of a tool context are shown to keys with the scope `admin`.',
    doc: 'Sorted by tenant and name. The library of one tenant lists only the schedules of that tenant.',
    query: { after, limit: limit(50) },
    answer: { description: 'A page of schedules, by tenant and name.', schema: pageOf('ScheduleList', ListedSchedule) },
    show: ({ data, ...page }: { data: Listed[] }, principal) => ({
      ...page,
      data: data.map((schedule) => shownTo(principal, schedule)),
    }),
  },
  get: {
    id: 'getSchedule',
    route: 'GET /v1/schedules/{name}',
    scope: 'read',
    summary: 'Get a schedule',
    query: { tenant },
    answer,
    errors,
    show,
  },
  set: {
    id: 'setSchedule',
    route: 'PUT /v1/schedules/{name}',
    summary: 'Set or replace a schedule',
    description: 'If the times do not change, the next slot stays. A paused schedule stays paused.',
    doc:
      'Sets or replaces a schedule. If its times stay the same, so does its next slot. A paused schedule stays paused. Also ' +
      'throws what `runs.enqueue` throws for a request that its runs could not make.',
    query: { tenant },
    body: ScheduleDefinition,
    own: { by, from },
    answer,
    errors: ['invalid_id', 'invalid_input', 'unknown_agent', 'override_not_allowed'],
    show,
  },
  remove: {
    id: 'removeSchedule',
    route: 'DELETE /v1/schedules/{name}',
    summary: 'Remove a schedule',
    description: 'Runs that it has started continue.',
    query: { tenant },
    own: { by },
    answer: { description: 'The schedule is removed.' },
    errors,
  },
  pause: {
    id: 'pauseSchedule',
    route: 'POST /v1/schedules/{name}/pause',
    summary: 'Pause a schedule',
    doc: 'Starts no runs until it is resumed; slots that are due are skipped.',
    query: { tenant },
    own: { by },
    answer,
    errors,
    show,
  },
  resume: {
    id: 'resumeSchedule',
    route: 'POST /v1/schedules/{name}/resume',
    summary: 'Resume a paused schedule',
    description: 'The schedule continues with its next slot. Slots that passed meanwhile do not run.',
    doc: 'Resumes with the first slot from now on; slots that passed meanwhile do not run.',
    query: { tenant },
    own: { by },
    answer,
    errors,
    show,
  },
  slots: {
    id: 'listSlots',
    route: 'GET /v1/schedules/{name}/slots',
    scope: 'read',
    summary: 'List the past slots of a schedule, newest first',
    doc: 'The slots whose time has come, newest first, also of a removed schedule.',
    query: { tenant, after, limit: limit(50) },
    answer: { description: 'A page of slots.', schema: pageOf('ScheduleSlotList', ScheduleSlot) },
    errors,
  },
});

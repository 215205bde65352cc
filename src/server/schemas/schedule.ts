import { z } from '@hono/zod-openapi';
import { catchUps, overlaps } from '../../features/schedules/definition/definition.ts';
import { Content } from './message.ts';
import { runFieldsWith } from './run-overrides.ts';
import { count, Id, nextCursor, orNull, timestamp, whole } from './values.ts';
import { NewRun } from './run.ts';

const fields = {
  agent: z.string().min(1).openapi({ example: 'reporter' }),
  input: Content.openapi({
    description:
      'The user message of each run. In texts, `{{slot}}` is the time of the slot in ISO 8601, `{{date}}` and `{{time}}` its ' +
      'date and time in the time zone, and `{{previous}}` that of the last slot before it that started a run.',
    example: 'Write the report of {{date}}.',
  }),
  cron: z.string().min(1).max(200).optional().openapi({
    description: 'Five fields, six with seconds in front, or a nickname such as `@daily`. Either this or `every_ms`.',
    example: '0 6 * * MON-FRI',
  }),
  every_ms: whole(1_000, 366 * 86_400_000)
    .optional()
    .openapi({ description: 'Counted from `start_at`, else from 1970.' }),
  time_zone: z.string().optional().openapi({ description: 'IANA time zone; default `UTC`.', example: 'Europe/Berlin' }),
  start_at: timestamp('The first slot is not before.').optional(),
  end_at: timestamp('The last slot is before.').optional(),
  thread_id: Id.optional().openapi({
    description:
      'The thread that all its runs go on with, created if it does not exist; default: a new one for each run.',
  }),
  overlap: z
    .enum(overlaps)
    .optional()
    .openapi({
      description:
        'While the run of an earlier slot has not ended: `skip` (default), the slot passes; `queue`, it waits; `interrupt`, ' +
        'the earlier run is cancelled.',
    }),
  catch_up: z.enum(catchUps).optional().openapi({
    description: 'Which slots of a backlog run: `none` of the late ones, only the newest `one` (default), or `all`.',
  }),
  jitter_ms: whole(0, 3_600_000).optional().openapi({ description: 'Each slot is delayed by up to this much.' }),
  options: z
    .strictObject({
      ...runFieldsWith({ schedule: true }),
      ttl_ms: NewRun.shape.ttl_ms,
      extra_refs: NewRun.shape.extra_refs,
    })
    .optional()
    .openapi({ description: 'Options of its runs, as in the request of a run.', example: { max_cost: 0.5 } }),
};

export const NewSchedule = z.strictObject(fields).openapi('NewSchedule', {
  example: { agent: 'reporter', input: 'Write the report of {{date}}.', cron: '0 6 * * *', time_zone: 'Europe/Berlin' },
});

export const Schedule = z
  .object({
    name: Id,
    tenant: Id.openapi({ description: 'The tenant whose runs it starts.' }),
    ...fields,
    next: z.array(timestamp('A slot.')).openapi({
      description: 'The next five slots; none while it is paused, and once it has ended.',
    }),
    paused_at: orNull(timestamp('Since when it is paused.')),
    source: z.enum(['code', 'user']).openapi({ description: '`code`: a program defines it.' }),
    version: count('Rises with every change.', 3),
    created_at: timestamp('When it was first set.'),
    updated_at: timestamp('When it was last changed.'),
    updated_by: z.string().openapi({ description: '`operator`, `key:<id>`, `cli:<user>` or `code`.' }),
  })
  .openapi('Schedule');

export const ScheduleList = z.object({ data: z.array(Schedule), next_after: nextCursor }).openapi('ScheduleList');

export const ScheduleSlot = z
  .object({
    slot: timestamp('Its time.'),
    due_at: timestamp('When it starts its run: its time and its jitter.'),
    status: z.enum(['due', 'firing', 'fired', 'skipped', 'missed', 'failed']),
    settled_at: orNull(timestamp('When that was decided.')),
    thread_id: orNull(Id),
    run_id: orNull(Id),
    error: orNull(z.object({ code: z.string(), message: z.string() })).openapi({ description: 'Why it failed.' }),
  })
  .openapi('ScheduleSlot');

export const ScheduleSlotList = z
  .object({ data: z.array(ScheduleSlot), next_after: nextCursor })
  .openapi('ScheduleSlotList');

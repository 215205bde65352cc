import { createRoute, z } from '@hono/zod-openapi';
import { may } from '../../base/access/principal.ts';
import { hideValues } from '../../agent/definition/version.ts';
import { camelKeys } from '../../base/common/case.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import type { ListedSchedule, ScheduleOwner } from '../../features/schedules/operations/schedules.ts';
import type { ScheduleDefinition } from '../../features/schedules/definition/definition.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import { toJson } from '../json.ts';
import { withField } from '../problem.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { NewSchedule, Schedule, ScheduleList, ScheduleSlotList } from '../schemas/schedule.ts';
import { afterCursor, Id, limit } from '../schemas/values.ts';
import { body, json, security } from './shared.ts';

const tags = ['Schedules'];
const params = z.object({ name: Id });
const query = z.strictObject({
  tenant: Id.optional().openapi({
    param: { description: 'The tenant of the schedule; default: the tenant of the key, else `default`.' },
  }),
});
const shared = { tags, security };
const paging = { after: afterCursor, limit: limit(50) };

const list = createRoute({
  ...shared,
  method: 'get',
  path: '/v1/schedules',
  operationId: 'listSchedules',
  summary: 'List the schedules, with their next five slots',
  description:
    'A key of a tenant sees the schedules of the tenant. Values of a tool context are shown to keys with the scope `admin`.',
  request: { query: z.strictObject(paging) },
  responses: { 200: json('A page of schedules, by tenant and name.', ScheduleList), ...problems() },
});

const get = createRoute({
  ...shared,
  method: 'get',
  path: '/v1/schedules/{name}',
  operationId: 'getSchedule',
  summary: 'Get a schedule',
  request: { params, query },
  responses: { 200: json('The schedule.', Schedule), ...problems(404) },
});

const set = createRoute({
  ...shared,
  method: 'put',
  path: '/v1/schedules/{name}',
  operationId: 'setSchedule',
  summary: 'Set or replace a schedule',
  description: 'With the same times, the next slot stays what it is; what is paused stays paused.',
  request: { params, query, body: body(NewSchedule) },
  responses: { 200: json('The schedule.', Schedule), ...problems(...bodyProblems) },
});

const remove = createRoute({
  ...shared,
  method: 'delete',
  path: '/v1/schedules/{name}',
  operationId: 'removeSchedule',
  summary: 'Remove a schedule',
  description: 'Runs that it has started go on.',
  request: { params, query },
  responses: { 204: { description: 'The schedule is removed.' }, ...problems(404) },
});

const pause = createRoute({
  ...shared,
  method: 'post',
  path: '/v1/schedules/{name}/pause',
  operationId: 'pauseSchedule',
  summary: 'Pause a schedule',
  request: { params, query },
  responses: { 200: json('The schedule.', Schedule), ...problems(404) },
});

const resume = createRoute({
  ...shared,
  method: 'post',
  path: '/v1/schedules/{name}/resume',
  operationId: 'resumeSchedule',
  summary: 'Resume a paused schedule',
  description: 'It goes on with the next slot from now on.',
  request: { params, query },
  responses: { 200: json('The schedule.', Schedule), ...problems(404) },
});

const slots = createRoute({
  ...shared,
  method: 'get',
  path: '/v1/schedules/{name}/slots',
  operationId: 'listSlots',
  summary: 'List the slots of a schedule that have come, newest first',
  request: { params, query: query.extend(paging) },
  responses: { 200: json('A page of slots.', ScheduleSlotList), ...problems(404) },
});

export function addSchedules(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { data, nextAfter } = await c.var.lanefold.schedules.list(omitUndefined(c.req.valid('query')));
    return c.json({ data: data.map((schedule) => toAnswer(c.var, schedule)), next_after: nextAfter }, 200);
  });

  app.openapi(get, async (c) =>
    c.json(
      toAnswer(
        c.var,
        await c.var.lanefold.schedules.get(c.req.valid('param').name, omitUndefined(c.req.valid('query'))),
      ),
      200,
    ),
  );

  app.openapi(set, async (c) => {
    const schedule = await c.var.lanefold.schedules
      .set(c.req.valid('param').name, toDefinition(c.req.valid('json')), {
        ...ownerOf(c.var, c.req.valid('query')),
        from: 'http',
      })
      .catch((error: unknown) => Promise.reject(withField(error)));
    return c.json(toAnswer(c.var, schedule), 200);
  });

  app.openapi(remove, async (c) => {
    await c.var.lanefold.schedules.remove(c.req.valid('param').name, ownerOf(c.var, c.req.valid('query')));
    return c.body(null, 204);
  });

  app.openapi(pause, async (c) =>
    c.json(
      toAnswer(
        c.var,
        await c.var.lanefold.schedules.pause(c.req.valid('param').name, ownerOf(c.var, c.req.valid('query'))),
      ),
      200,
    ),
  );

  app.openapi(resume, async (c) =>
    c.json(
      toAnswer(
        c.var,
        await c.var.lanefold.schedules.resume(c.req.valid('param').name, ownerOf(c.var, c.req.valid('query'))),
      ),
      200,
    ),
  );

  app.openapi(slots, async (c) => {
    const given = omitUndefined(c.req.valid('query'));
    const { data, nextAfter } = await c.var.lanefold.schedules.slots(c.req.valid('param').name, given);
    return c.json({ data: data.map(toJson), next_after: nextAfter }, 200);
  });
}

function toDefinition({ start_at, end_at, options, ...given }: z.infer<typeof NewSchedule>): ScheduleDefinition {
  return {
    ...(camelKeys(omitUndefined(given)) as unknown as ScheduleDefinition),
    ...(start_at === undefined ? {} : { startAt: new Date(start_at) }),
    ...(end_at === undefined ? {} : { endAt: new Date(end_at) }),
    ...(options ? { options: camelKeys(omitUndefined(options)) } : {}),
  };
}

/** The tool context of its runs, which may hold secrets, is shown to keys that may set schedules. */
function toAnswer({ principal }: Caller, { next, options, ...schedule }: ListedSchedule): z.infer<typeof Schedule> {
  const { toolContext, ...others } = options ?? {};
  const shown = toolContext && !may(principal, 'admin') ? (hideValues(toolContext) as JsonObject) : toolContext;
  return {
    ...toJson(schedule),
    next: next.map((slot) => slot.toISOString()),
    ...(options ? { options: toJson({ ...others, ...(shown ? { toolContext: shown } : {}) }) } : {}),
  } as z.infer<typeof Schedule>;
}

type Caller = Pick<ApiEnv['Variables'], 'principal'>;

const ownerOf = ({ principal }: Caller, given: z.infer<typeof query>): ScheduleOwner => ({
  ...omitUndefined(given),
  by: principal.actor,
});

import { createRoute, z } from '@hono/zod-openapi';
import { camelKeys } from '../../base/common/case.ts';
import { omitUndefined } from '../../base/common/omit-undefined.ts';
import type { MonitorOwner } from '../../features/monitors/operations/types.ts';
import type { MonitorDefinition } from '../../features/monitors/definition/definition.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import { toJson } from '../json.ts';
import { withField } from '../problem.ts';
import { Monitor, MonitorList, NewMonitor, RunScoreList } from '../schemas/monitor.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { Id, wholeText } from '../schemas/values.ts';
import { body, json, security } from './shared.ts';

const shared = { tags: ['Monitors'], security };
const params = z.object({ name: Id });
const query = z.strictObject({
  tenant: Id.optional().openapi({
    param: { description: 'The tenant of the monitor; default: the tenant of the key, else `default`.' },
  }),
});

const list = createRoute({
  ...{ ...shared, method: 'get', path: '/v1/monitors', operationId: 'listMonitors' },
  summary: 'List the monitors',
  description: 'A key of a tenant sees the monitors of the tenant.',
  responses: { 200: json('The monitors, by tenant and name.', MonitorList), ...problems() },
});

const get = createRoute({
  ...{ ...shared, method: 'get', path: '/v1/monitors/{name}', operationId: 'getMonitor' },
  summary: 'Get a monitor',
  request: { params, query },
  responses: { 200: json('The monitor.', Monitor), ...problems(404) },
});

const set = createRoute({
  ...{ ...shared, method: 'put', path: '/v1/monitors/{name}', operationId: 'setMonitor' },
  summary: 'Set or change a monitor',
  description: 'Workers score a share of the runs that end from now on. A change keeps the scores.',
  request: { params, query, body: body(NewMonitor) },
  responses: { 200: json('The monitor.', Monitor), ...problems(...bodyProblems) },
});

const remove = createRoute({
  ...{ ...shared, method: 'delete', path: '/v1/monitors/{name}', operationId: 'removeMonitor' },
  summary: 'Remove a monitor and its scores',
  request: { params, query },
  responses: { 204: { description: 'The monitor is removed.' }, ...problems(404) },
});

const scores = createRoute({
  ...{ ...shared, method: 'get', path: '/v1/monitors/{name}/scores', operationId: 'listRunScores' },
  summary: 'List the scores that a monitor gave to runs, newest first',
  request: {
    params,
    query: query.extend({
      after: z.string().max(600).optional(),
      limit: wholeText(1, 1_000, 'Maximum number of scores; default 50.'),
      below: z.coerce
        .number()
        .min(0)
        .max(1)
        .optional()
        .openapi({ param: { description: 'Only runs with a lower score.' } }),
    }),
  },
  responses: { 200: json('The scores.', RunScoreList), ...problems(404) },
});

export function addMonitors(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const all = await c.var.lanefold.monitors.list();
    return c.json({ data: all.map(toJson) } as z.infer<typeof MonitorList>, 200);
  });

  app.openapi(get, async (c) => {
    const monitor = await c.var.lanefold.monitors.get(c.req.valid('param').name, omitUndefined(c.req.valid('query')));
    return c.json(toJson(monitor) as z.infer<typeof Monitor>, 200);
  });

  app.openapi(set, async (c) => {
    const definition = camelKeys(omitUndefined(c.req.valid('json'))) as unknown as MonitorDefinition;
    const monitor = await c.var.lanefold.monitors
      .set(c.req.valid('param').name, definition, ownerOf(c.var, c.req.valid('query')))
      .catch((error: unknown) => Promise.reject(withField(error)));
    return c.json(toJson(monitor) as z.infer<typeof Monitor>, 200);
  });

  app.openapi(remove, async (c) => {
    await c.var.lanefold.monitors.remove(c.req.valid('param').name, ownerOf(c.var, c.req.valid('query')));
    return c.body(null, 204);
  });

  app.openapi(scores, async (c) => {
    const { name } = c.req.valid('param');
    const { data, nextAfter } = await c.var.lanefold.monitors.scores(name, omitUndefined(c.req.valid('query')));
    return c.json({ data: data.map(toJson), next_after: nextAfter } as z.infer<typeof RunScoreList>, 200);
  });
}

const ownerOf = (
  { principal }: Pick<ApiEnv['Variables'], 'principal'>,
  given: z.infer<typeof query>,
): MonitorOwner => ({ ...omitUndefined(given), by: principal.actor });

import { createRoute, z } from '@hono/zod-openapi';
import type { Library } from '../../features/library/library.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { Activity, WorkerList } from '../schemas/overview.ts';
import { problems } from '../schemas/problem.ts';
import { wholeText } from '../schemas/values.ts';
import { json, security } from './shared.ts';

const getActivity = createRoute({
  method: 'get',
  path: '/v1/activity',
  operationId: 'getActivity',
  tags: ['Operations'],
  security,
  summary: 'Read the state of queue and workers, and the runs, errors, tokens and cost of the last hours',
  request: { query: z.strictObject({ hours: wholeText(1, 24 * 31, 'Hours to look back; default 24.') }) },
  responses: { 200: json('The activity.', Activity), ...problems() },
});

const listWorkers = createRoute({
  method: 'get',
  path: '/v1/workers',
  operationId: 'listWorkers',
  tags: ['Operations'],
  security,
  summary: 'List the workers that are alive, then those that recently stopped or died',
  request: { query: z.strictObject({ hours: wholeText(1, 24 * 30, 'Hours to look back; default 1.') }) },
  responses: { 200: json('The workers, at most 1,000.', WorkerList), ...problems() },
});

/** Activity of all tenants together. */
export function addActivity(app: ApiApp, lanefold: Library): void {
  app.openapi(listWorkers, async (c) => {
    const data = await lanefold.workers.list(omitUndefined(c.req.valid('query')));
    return c.json({ data: data.map(toJson) }, 200);
  });

  app.openapi(getActivity, async (c) => {
    const [activity, stats] = await Promise.all([
      lanefold.activity(omitUndefined(c.req.valid('query'))),
      lanefold.stats(),
    ]);
    const { workers, errors, slots } = activity;
    return c.json(
      {
        ...toJson({ ...stats, ...activity }),
        workers: workers.map(toJson),
        errors: errors.map(toJson),
        slots: slots.map(toJson),
      },
      200,
    );
  });
}

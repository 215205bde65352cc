import { createRoute, z } from '@hono/zod-openapi';
import { camelKeys } from '../../base/common/case.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { LimitOwner } from '../../runs/operations/limits/limits.ts';
import { usedLimits } from '../../runs/operations/limits/usage.ts';
import type { LimitDefinition } from '../../agent/limits/limit.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import { toJson } from '../json.ts';
import { withField } from '../problem.ts';
import { Limit, LimitHolderPage, LimitList, NewLimit } from '../schemas/limit.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { afterCursor, Id, limit, wholeText } from '../schemas/values.ts';
import { body, json, security } from './shared.ts';

const tags = ['Limits'];
const params = z.object({ name: Id });
const afterKey = z
  .string()
  .min(1)
  .max(4_000)
  .optional()
  .openapi({ param: { description: 'The `next_after` of a limit: only that limit, with its next keys.' } });
const ownerQuery = z.strictObject({
  tenant: Id.optional().openapi({
    param: { description: 'The tenant whose limit it is; default: the tenant of the key, else the operator.' },
  }),
});

const list = createRoute({
  method: 'get',
  path: '/v1/limits',
  operationId: 'listLimits',
  tags,
  security,
  summary: 'List the limits, and what was used of them',
  description: 'A key of a tenant sees the limits of the tenant.',
  request: {
    query: z.strictObject({
      name: Id.optional().openapi({ param: { description: 'Only limits with this name.' } }),
      after: afterKey,
      limit: wholeText(1, 1_000, 'Keys of each limit; default 100.'),
    }),
  },
  responses: { 200: json('The limits, by tenant and name.', LimitList), ...problems() },
});

const holders = createRoute({
  method: 'get',
  path: '/v1/limits/{name}/holders',
  operationId: 'listLimitHolders',
  tags,
  security,
  summary: 'List the runs that hold a slot of a limit, or have reserved some of it',
  description:
    'The longest first. A key of a tenant sees its own runs, also on limits of the operator. Empty for a limit that does not exist.',
  request: {
    params,
    query: z.strictObject({
      key: z
        .string()
        .max(2_000)
        .optional()
        .openapi({ param: { description: 'Only of this key of the limit.' } }),
      after: afterCursor,
      limit: limit(100),
    }),
  },
  responses: { 200: json('A page of runs.', LimitHolderPage), ...problems() },
});

const set = createRoute({
  method: 'put',
  path: '/v1/limits/{name}',
  operationId: 'setLimit',
  tags,
  security,
  summary: 'Set or replace a limit',
  description:
    'What was used stays used, and runs that wait go on if they now may. A limit of a tenant applies to its runs only.',
  request: { params, query: ownerQuery, body: body(NewLimit) },
  responses: { 200: json('The limit.', Limit), ...problems(...bodyProblems) },
});

const remove = createRoute({
  method: 'delete',
  path: '/v1/limits/{name}',
  operationId: 'removeLimit',
  tags,
  security,
  summary: 'Remove a limit',
  description: 'Runs that wait for it go on.',
  request: { params, query: ownerQuery },
  responses: { 204: { description: 'The limit is removed.' }, ...problems(404) },
});

export function addLimits(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { limits } = c.var.lanefold;
    const { name, after, limit = 100 } = c.req.valid('query');
    const [found, usage] = await Promise.all([limits.list(), limits.usage(omitUndefined({ name, after, limit }))]);
    const data = usedLimits(found, usage, name)
      .filter(({ uses }) => after === undefined || uses.length > 0)
      .map(({ limit: one, uses }) => ({
        ...toJson(one),
        usage: uses.map(({ name: _, tenant: __, kind: ___, ...use }) => toJson(use)),
        next_after: uses.length === limit ? uses.at(-1)!.cursor : null,
      }));
    return c.json({ data } as z.infer<typeof LimitList>, 200);
  });

  app.openapi(holders, async (c) => {
    const { name } = c.req.valid('param');
    const { data, nextAfter } = await c.var.lanefold.limits.holders({ name, ...omitUndefined(c.req.valid('query')) });
    return c.json({ data: data.map(toJson), next_after: nextAfter } as z.infer<typeof LimitHolderPage>, 200);
  });

  app.openapi(set, async (c) => {
    const definition = camelKeys(omitUndefined(c.req.valid('json'))) as unknown as LimitDefinition;
    const { name } = c.req.valid('param');
    const limit = await c.var.lanefold.limits
      .set(name, definition, ownerOf(c.var, c.req.valid('query')))
      .catch((error: unknown) => Promise.reject(withField(error)));
    return c.json(toJson(limit) as z.infer<typeof Limit>, 200);
  });

  app.openapi(remove, async (c) => {
    await c.var.lanefold.limits.remove(c.req.valid('param').name, ownerOf(c.var, c.req.valid('query')));
    return c.body(null, 204);
  });
}

const ownerOf = (
  { principal }: Pick<ApiEnv['Variables'], 'principal'>,
  query: z.infer<typeof ownerQuery>,
): LimitOwner => ({
  ...omitUndefined(query),
  by: principal.actor,
});

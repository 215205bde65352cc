import { createRoute, z } from '@hono/zod-openapi';
import { camelKeys } from '../../base/common/case.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { NewCase as Given, CaseChanges as Changes } from '../../features/evals/operations/types.ts';
import type { EvalCase } from '../../features/evals/store/cases.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { Case, CaseChanges, CaseList, DatasetList, NewCase } from '../schemas/case.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { afterCursor, Id, limit, word } from '../schemas/values.ts';
import { body, json, security } from './shared.ts';

const tags = ['Evals'];
const shared = { tags, security };
const params = z.object({ case_id: Id });

const keep = createRoute({
  ...{ ...shared, method: 'post', path: '/v1/cases', operationId: 'keepCase' },
  summary: 'Keep a run or a model call as a case',
  description: 'The case refers to the log and copies nothing of it. A call that the log does not prove is refused.',
  request: { body: body(NewCase) },
  responses: { 201: json('The case.', Case), ...problems(...bodyProblems, 404, 409, 410, 422) },
});

const list = createRoute({
  ...{ ...shared, method: 'get', path: '/v1/cases', operationId: 'listCases' },
  summary: 'List cases, the oldest first',
  request: {
    query: z.strictObject({
      dataset: Id.optional(),
      ...{ tag: word('Only cases with this tag.'), split: word('Only cases of this part.') },
      ...{ after: afterCursor, limit: limit(50) },
    }),
  },
  responses: { 200: json('A page of cases.', CaseList), ...problems() },
});

const get = createRoute({
  ...{ ...shared, method: 'get', path: '/v1/cases/{case_id}', operationId: 'getCase' },
  summary: 'Get a case',
  request: { params },
  responses: { 200: json('The case.', Case), ...problems(404) },
});

const update = createRoute({
  ...{ ...shared, method: 'patch', path: '/v1/cases/{case_id}', operationId: 'updateCase' },
  summary: 'Change what a case expects, and its labels',
  description: 'What is left out stays; null takes a value away.',
  request: { params, body: body(CaseChanges) },
  responses: { 200: json('The case.', Case), ...problems(...bodyProblems, 404, 410) },
});

const remove = createRoute({
  ...{ ...shared, method: 'delete', path: '/v1/cases/{case_id}', operationId: 'removeCase' },
  summary: 'Remove a case',
  description: 'Its thread stays.',
  request: { params },
  responses: { 204: { description: 'The case is removed.' }, ...problems(404) },
});

const datasets = createRoute({
  ...{ ...shared, method: 'get', path: '/v1/datasets', operationId: 'listDatasets' },
  summary: 'List the datasets',
  responses: { 200: json('The datasets, by tenant and name.', DatasetList), ...problems() },
});

export function addCases(app: ApiApp): void {
  app.openapi(keep, async (c) => {
    const given = camelKeys(omitUndefined(c.req.valid('json'))) as unknown as Given;
    return c.json(toAnswer(await c.var.lanefold.cases.keep(given, { by: c.var.principal.actor })), 201);
  });
  app.openapi(list, async (c) => {
    const { data, nextAfter } = await c.var.lanefold.cases.list(omitUndefined(c.req.valid('query')));
    return c.json({ data: data.map(toAnswer), next_after: nextAfter }, 200);
  });
  app.openapi(get, async (c) => c.json(toAnswer(await c.var.lanefold.cases.get(c.req.valid('param').case_id)), 200));
  app.openapi(update, async (c) => {
    const changes = omitUndefined(c.req.valid('json')) as unknown as Changes;
    const by = c.var.principal.actor;
    return c.json(toAnswer(await c.var.lanefold.cases.update(c.req.valid('param').case_id, changes, { by })), 200);
  });
  app.openapi(remove, async (c) => {
    await c.var.lanefold.cases.remove(c.req.valid('param').case_id, { by: c.var.principal.actor });
    return c.body(null, 204);
  });
  app.openapi(datasets, async (c) => c.json({ data: (await c.var.lanefold.cases.datasets()).map(toJson) }, 200));
}

const toAnswer = (kept: EvalCase) => toJson(kept) as unknown as z.infer<typeof Case>;

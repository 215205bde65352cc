import { createRoute, z } from '@hono/zod-openapi';
import { camelKeys } from '../../base/common/case.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { toJson as reportJson } from '../../features/evals/report/to-json.ts';
import { specJson } from '../../features/evals/operations/spec-json.ts';
import type { EvalDefinition, EvalVariant, ListedEval } from '../../features/evals/operations/types.ts';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { withField } from '../problem.ts';
import { Eval, EvalItem, EvalItemList, EvalList, EvalReport, NewEval } from '../schemas/eval.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { after, afterCursor, Id, limit, word, wholeText } from '../schemas/values.ts';
import { body, json, security } from './shared.ts';

const tags = ['Evals'];
const shared = { tags, security };
const params = z.object({ eval_id: Id });

const start = createRoute({
  ...shared,
  method: 'post',
  path: '/v1/evals',
  operationId: 'startEval',
  summary: 'Run an eval',
  description:
    'Workers ask each case under each variant, on threads that begin as the original one was, and score the answers. The ' +
    'original threads are not changed.',
  request: { body: body(NewEval) },
  responses: { 202: json('The eval.', Eval), ...problems(...bodyProblems, 404, 422) },
});

const list = createRoute({
  ...shared,
  method: 'get',
  path: '/v1/evals',
  operationId: 'listEvals',
  summary: 'List the evals, newest first',
  request: { query: z.strictObject({ after: afterCursor, limit: limit(50) }) },
  responses: { 200: json('A page of evals.', EvalList), ...problems() },
});

const get = createRoute({
  ...shared,
  method: 'get',
  path: '/v1/evals/{eval_id}',
  operationId: 'getEval',
  summary: 'Get an eval, and how far it is',
  request: { params },
  responses: { 200: json('The eval.', Eval), ...problems(404) },
});

const items = createRoute({
  ...shared,
  method: 'get',
  path: '/v1/evals/{eval_id}/items',
  operationId: 'listEvalItems',
  summary: 'List the items of an eval: a case under a variant, once',
  request: {
    params,
    query: z.strictObject({
      after: after('the items', 'no'),
      limit: limit(100),
      case_id: Id.optional().openapi({ param: { description: 'Only the items of this case.' } }),
    }),
  },
  responses: { 200: json('A page of items, in the order in which they run.', EvalItemList), ...problems(404) },
});

const report = createRoute({
  ...shared,
  method: 'get',
  path: '/v1/evals/{eval_id}/report',
  operationId: 'reportEval',
  summary: 'Compare the variants of an eval',
  request: {
    params,
    query: z.strictObject({
      baseline: word('The variant that the others are compared with; default: the first one.'),
      seed: wholeText(0, 4_294_967_295, 'Of the bootstrap; default 1.'),
    }),
  },
  responses: { 200: json('The report.', EvalReport), ...problems(404) },
});

const cancel = createRoute({
  ...shared,
  method: 'post',
  path: '/v1/evals/{eval_id}/stop',
  operationId: 'stopEval',
  summary: 'Cancel an eval and its runs',
  request: { params },
  responses: { 200: json('The eval.', Eval), ...problems(404, 409) },
});

const rescore = createRoute({
  ...shared,
  method: 'post',
  path: '/v1/evals/{eval_id}/rescore',
  operationId: 'rescoreEval',
  summary: 'Score the answers of an ended eval again',
  description: 'By what its cases expect now. An item whose case or thread is gone stays as it is.',
  request: { params },
  responses: { 200: json('The eval.', Eval), ...problems(404, 409) },
});

const remove = createRoute({
  ...shared,
  method: 'delete',
  path: '/v1/evals/{eval_id}',
  operationId: 'removeEval',
  summary: 'Remove an ended eval',
  description: 'Workers erase the threads of its runs.',
  request: { params },
  responses: { 204: { description: 'The eval is removed.' }, ...problems(404, 409) },
});

export function addEvals(app: ApiApp): void {
  app.openapi(start, async (c) => {
    const { evals } = c.var.lanefold;
    const started = await evals
      .run(toDefinition(c.req.valid('json')), { by: c.var.principal.actor, from: 'http' })
      .catch((error: unknown) => Promise.reject(withField(error)));
    return c.json(toAnswer(started), 202);
  });
  app.openapi(list, async (c) => {
    const { data, nextAfter } = await c.var.lanefold.evals.list(omitUndefined(c.req.valid('query')));
    return c.json({ data: data.map(toAnswer), next_after: nextAfter }, 200);
  });
  app.openapi(get, async (c) => c.json(toAnswer(await c.var.lanefold.evals.get(c.req.valid('param').eval_id)), 200));
  app.openapi(items, async (c) => {
    const { after: from = 0, limit: most = 100, case_id: caseId } = c.req.valid('query');
    const found = await c.var.lanefold.evals.items(c.req.valid('param').eval_id, {
      after: Math.max(from, 0),
      limit: most,
      ...omitUndefined({ caseId }),
    });
    const next = found.length === most ? found.at(-1)!.no : null;
    return c.json({ data: found.map((item) => toJson(item) as z.infer<typeof EvalItem>), next_after: next }, 200);
  });
  app.openapi(report, async (c) => {
    const found = await c.var.lanefold.evals.report(c.req.valid('param').eval_id, omitUndefined(c.req.valid('query')));
    return c.json(reportJson(found) as z.infer<typeof EvalReport>, 200);
  });
  app.openapi(cancel, async (c) =>
    c.json(
      toAnswer(await c.var.lanefold.evals.cancel(c.req.valid('param').eval_id, { by: c.var.principal.actor })),
      200,
    ),
  );
  app.openapi(rescore, async (c) =>
    c.json(
      toAnswer(await c.var.lanefold.evals.rescore(c.req.valid('param').eval_id, { by: c.var.principal.actor })),
      200,
    ),
  );
  app.openapi(remove, async (c) => {
    await c.var.lanefold.evals.remove(c.req.valid('param').eval_id, { by: c.var.principal.actor });
    return c.body(null, 204);
  });
}

function toDefinition({ variants, ...given }: z.infer<typeof NewEval>): EvalDefinition {
  return {
    ...(camelKeys(omitUndefined(given)) as unknown as EvalDefinition),
    ...(variants ? { variants: variants.map(toVariant) } : {}),
  };
}

function toVariant({ context_policy: policy, ...variant }: NonNullable<z.infer<typeof NewEval>['variants']>[number]) {
  const contextPolicy = typeof policy === 'object' && policy !== null ? camelKeys(policy) : policy;
  return { ...camelKeys(omitUndefined(variant)), ...omitUndefined({ contextPolicy }) } as EvalVariant;
}

const toAnswer = (one: ListedEval): z.infer<typeof Eval> => ({ ...toJson(one), spec: specJson(one.spec) });

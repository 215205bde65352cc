import { createRoute, z, type RouteConfig } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { omitUndefined } from '../../base/common/json.ts';
import { errorStatus } from '../../base/errors.ts';
import { type Noun, type Operation, paramsOf } from '../../base/operations/operation.ts';
import { fromWire, toWire } from '../../base/operations/wire.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import { withField } from '../problem.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { Id } from '../schemas/values.ts';
import { listSchema, querySchema, wireSchema } from './wire-schema.ts';

type Method = (...args: unknown[]) => Promise<unknown>;
/** The methods of a noun for a request. */
type MethodsFor = (lanefold: ApiEnv['Variables']['lanefold']) => object;

/** Serves the operations of a noun, each with the method of its name. */
export function addNoun(app: ApiApp, { part, tag, operations }: Noun, methodsFor?: MethodsFor): void {
  const of: MethodsFor = methodsFor ?? ((lanefold) => lanefold[part as 'webhooks']);
  for (const [name, operation] of Object.entries(operations)) {
    const answer = answerer(operation);
    app.openapi(routeOf(tag, operation), (async (c: Context<ApiEnv>) => {
      const method = (of(c.var.lanefold) as Record<string, Method>)[name]!;
      return answer(c, await method(...argumentsOf(c, operation)).catch(rejectField));
    }) as never);
  }
}

const rejectField = (error: unknown): Promise<never> => Promise.reject(withField(error) as Error);

/** The route of an operation in the OpenAPI document. */
function routeOf(tag: string, { id, route, summary, description, ...operation }: Operation): RouteConfig {
  const [method, path] = route.split(' ') as [string, string];
  const { params = {}, query, body, answer, errors = [] } = operation;
  const inPath = paramsOf(path).map((name) => [name, params[name] ? param(name, params[name]) : Id]);
  const request = omitUndefined({
    params: inPath.length === 0 ? undefined : z.object(Object.fromEntries(inPath) as Record<string, z.ZodType>),
    query: query && querySchema(query),
    body: body && { content: { 'application/json': { schema: wireSchema(body) } }, required: true },
  });
  const statuses = errors.map((code) => errorStatus[code]) as Parameters<typeof problems>;
  return createRoute({
    tags: [tag],
    security: [{ bearer: [] }],
    method: method.toLowerCase() as 'get',
    path,
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(Object.keys(request).length === 0 ? {} : { request }),
    responses: {
      [statusOf(answer)]: {
        description: answer.description,
        ...(answer.schema && { content: { 'application/json': { schema: answerSchema(answer.schema) } } }),
      },
      ...problems(...statuses, ...(body ? bodyProblems : [])),
    },
  });
}

const param = (name: string, schema: z.ZodType): z.ZodType =>
  wireSchema(schema).openapi({ param: { name, in: 'path' } });

const isList = (schema: z.ZodType): schema is z.ZodArray => schema.type === 'array';

const answerSchema = (schema: z.ZodType): z.ZodType => (isList(schema) ? listSchema(schema) : wireSchema(schema));

const statusOf = ({ status, schema }: Operation['answer']): 200 | 201 | 202 | 204 => (schema ? (status ?? 200) : 204);

/** What a request gives to the method: the parameters of its path, its body and its options. */
function argumentsOf(c: Context<ApiEnv>, { route, query, body, bodyIs, own = {} }: Operation): unknown[] {
  const valid = (target: string): Record<string, unknown> => c.req.valid(target as never);
  const params = paramsOf(route).map((name) => valid('param')[name]);
  const given = body && omitUndefined(fromWire(body, valid('json')) as object);
  const options = {
    ...(query && (fromWire(z.object(query), valid('query')) as object)),
    ...(bodyIs === 'options' ? given : {}),
    ...('by' in own ? { by: c.var.principal.actor } : {}),
    ...('from' in own ? { from: 'http' } : {}),
  };
  const takesOptions = query !== undefined || bodyIs === 'options' || Object.keys(own).length > 0;
  return [...params, ...(body && bodyIs !== 'options' ? [given] : []), ...(takesOptions ? [options] : [])];
}

/** Answers a request with what the method returned. */
function answerer({ answer, show }: Operation): (c: Context<ApiEnv>, result: unknown) => Response {
  const { schema } = answer;
  const status = statusOf(answer);
  if (!schema || status === 204) return (c) => c.body(null, 204);
  const shown = show as ((answer: unknown, principal: ApiEnv['Variables']['principal']) => unknown) | undefined;
  return (c, result) => {
    const seen = shown ? shown(result, c.var.principal) : result;
    const data = toWire(schema, seen);
    return c.json(isList(schema) ? { data } : data, status);
  };
}

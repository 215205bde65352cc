import { createRoute, z, type RouteConfig } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { toCamelCase, toSnakeCase } from '../../base/common/case.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { errorStatus } from '../../base/errors.ts';
import { argumentsOf, type Noun, type Operation, optionsOf, paramsOf } from '../../base/operations/operation.ts';
import { fromWire, toWire } from '../../base/operations/wire.ts';
import type { RunRef } from '../../database/store/run/run.ts';
import { callerOf } from '../access/limited-parties.ts';
import type { Library, TenantLibrary } from '../../features/library/library.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import { withField } from '../problem.ts';
import { actedBy, idempotencyKey, keyOf, replayed, replayedHeader } from '../routes/shared.ts';
import { bodyProblems, problems } from '../schemas/problem.ts';
import { Id } from './wire-schema.ts';
import { listSchema, querySchema, textSchema, wireSchema } from './wire-schema.ts';

type Method = (...args: unknown[]) => unknown;
type Values = Record<string, unknown>;

/** A request, in the names of the library. */
export interface Given {
  c: Context<ApiEnv>;
  lanefold: TenantLibrary;
  principal: ApiEnv['Variables']['principal'];
  /** The parameters of the path, under the names of the library. */
  params: Record<string, string>;
  /** The run of the path. */
  run: RunRef;
  /** What a body that is no options says. */
  body: Values;
  /** The query, a body of options, and who acts. */
  options: Values;
  /** Headers that the operation declares, under the names that HTTP gives them. */
  headers: Record<string, string | undefined>;
  /** Calls the method of the operation, with other options if given. */
  call(other?: Values): Promise<unknown>;
  /** Answers as declared, maybe with another status. */
  answer(result: unknown, status?: number): Response;
}

/** Does what the API does beside calling the method. What it returns is answered as declared, unless it is an answer. */
export type Handler = (given: Given) => Promise<unknown>;

/** The handlers of nouns, by the name of the method or request. A handler of no operation is an error. */
export type Handlers = Readonly<Record<string, Readonly<Record<string, Handler>>>>;

/**
 * Serves the operations of nouns, each with the method of its name in the part of the library with the noun's name, or with its
 * handler. A library of one tenant has no operations over all of them. What belongs to no tenant is in the whole library alone.
 */
export function addNouns(app: ApiApp, nouns: readonly Noun[], whole: Library, handlers: Handlers = {}): void {
  for (const { part, tag, operations, requests } of nouns) {
    const of = handlers[part] ?? {};
    const all = { ...operations, ...requests };
    const unknown = Object.keys(of).find((name) => !(name in all));
    if (unknown !== undefined) throw new Error(`${part}.${unknown} has a handler, and is not declared`);
    for (const [name, operation] of Object.entries(all)) {
      if (!isServed(operation) || (operation.everywhere && whole.tenant !== undefined)) continue;
      serve(
        app,
        routeOf(operation.tag ?? tag, operation),
        operation,
        of[name] ?? (({ call }) => call()),
        (lanefold) => {
          const ofAll = operation.everywhere || operation.about === 'nothing' ? whole[part as 'webhooks'] : undefined;
          const methods = part === 'library' ? whole : (lanefold[part as 'webhooks'] ?? ofAll);
          return (methods as unknown as Record<string, Method>)[name]!;
        },
      );
    }
  }
}

/** An operation that the API has. */
type Served = Operation & Required<Pick<Operation, 'route'>>;

const isServed = (operation: Operation): operation is Served => operation.route !== undefined;

function serve(
  app: ApiApp,
  route: RouteConfig,
  operation: Operation,
  handle: Handler,
  methodOf: (lanefold: TenantLibrary) => Method,
): void {
  const answer = answerer(operation);
  const read = reader(operation);
  app.openapi(route, (async (c: Context<ApiEnv>) => {
    const { args, ...given } = read(c);
    const { lanefold, principal } = c.var;
    const call = async (other?: Values) => methodOf(lanefold)(...args(other));
    const answered = (result: unknown, status?: number) => answer(c, result, status);
    const result = await handle({ ...given, c, lanefold, principal, call, answer: answered }).catch(rejectField);
    return result instanceof Response ? result : answer(c, result);
  }) as never);
}

const rejectField = (error: unknown): Promise<never> => Promise.reject(withField(error) as Error);

/** The route of an operation in the OpenAPI document. */
function routeOf(group: string, { id, route, summary, description, tag = group, ...operation }: Served): RouteConfig {
  const [method, path] = route.split(' ') as [string, string];
  const { params = {}, query, body, answer, errors = [], headers, idempotencyKey: keyed } = operation;
  const inPath = paramsOf(path).map((name) => [name, params[name] ? param(name, params[name]) : Id]);
  const sent = { ...(keyed === undefined ? {} : idempotencyKey.shape), ...headersSchema(headers) };
  const request = omitUndefined({
    params: inPath.length === 0 ? undefined : z.object(Object.fromEntries(inPath) as Record<string, z.ZodType>),
    query: query && querySchema(query),
    headers: Object.keys(sent).length === 0 ? undefined : z.object(sent),
    body: body && { content: { 'application/json': { schema: wireSchema(body) } }, required: true },
  });
  const statuses = errors.map((code) => errorStatus[code]) as Parameters<typeof problems>;
  const also = Object.entries(answer.also ?? {}).map(([status, other]) => [status, responseOf(other)]);
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
      [statusOf(answer)]: responseOf(answer),
      ...(Object.fromEntries(also) as object),
      ...problems(...statuses, ...(body ? bodyProblems : [])),
    },
  });
}

const param = (name: string, schema: z.ZodType): z.ZodType =>
  wireSchema(schema).openapi({ param: { name, in: 'path' } });

const headersSchema = (headers: Operation['headers'] = {}): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(headers).map(([name, schema]) => [name, textSchema(schema)]));

type Answer = Operation['answer'];

function responseOf({
  description,
  schema,
  headers,
  replays,
  content,
}: Answer): NonNullable<RouteConfig['responses'][number]> {
  const json = schema && { 'application/json': { schema: answerSchema(schema) } };
  const others = Object.entries(content ?? {}).map(([type, other]) => [type, { schema: wireSchema(other.schema) }]);
  const told = { ...(replays ? replayedHeader.headers.shape : {}), ...headers };
  return {
    description,
    ...(json || content ? { content: { ...json, ...(Object.fromEntries(others) as object) } } : {}),
    ...(Object.keys(told).length === 0 ? {} : { headers: z.object(told) }),
  };
}

const isList = (schema: z.ZodType): schema is z.ZodArray => schema.type === 'array';

const answerSchema = (schema: z.ZodType): z.ZodType => (isList(schema) ? listSchema(schema) : wireSchema(schema));

const statusOf = ({ status, schema, content }: Answer): 200 | 201 | 202 | 204 =>
  schema || content ? (status ?? 200) : 204;

type Read = Omit<Given, 'c' | 'lanefold' | 'principal' | 'call' | 'answer'> & { args: (other?: Values) => unknown[] };

/** Reads requests for an operation. */
function reader(operation: Operation): (c: Context<ApiEnv>) => Read {
  const { query, body, bodyIs, own = {}, idempotencyKey: keyed } = operation;
  const list = argumentsOf(operation);
  const fields = query && z.object(query);
  const takesBy = 'by' in optionsOf(operation);
  return (c) => {
    const valid = (target: string): Values => c.req.valid(target as never);
    const { principal } = c.var;
    const path: Record<string, string> = valid('param') as never;
    const params = Object.fromEntries(Object.entries(path ?? {}).map(([name, value]) => [toCamelCase(name), value]));
    const headers = (operation.headers || keyed ? valid('header') : {}) as Record<string, string | undefined>;
    const given = body && (omitUndefined(fromWire(body, valid('json')) as object) as Values);
    if (given && keyed !== undefined) {
      const key = keyOf(headers, toSnakeCase(keyed), given[keyed] as string | undefined);
      if (key !== undefined) given[keyed] = key;
    }
    const isOptions = bodyIs === 'options';
    const options: Values = omitUndefined({
      ...(fields && (fromWire(fields, valid('query')) as object)),
      ...(isOptions ? given : {}),
      ...('from' in own ? { from: 'http' } : {}),
      ...('caller' in own ? callerOf(principal) : {}),
    });
    if (takesBy) {
      const by = 'by' in own ? principal.actor : actedBy(principal, options['by'] as string | undefined);
      if (by !== undefined) options['by'] = by;
    }
    const run: RunRef = { threadId: params['threadId']!, id: params['runId']! };
    const args = (other: Values = {}) =>
      list.map((argument) => {
        if (argument.kind === 'run') return run;
        if (argument.kind === 'param') return params[argument.name];
        if (argument.kind === 'body') return given;
        if (argument.kind === 'field') return options[argument.name];
        const all = Object.entries({ ...options, ...other });
        return Object.fromEntries(all.filter(([name]) => name in argument.fields));
      });
    return { params, headers, run, body: isOptions ? {} : (given ?? {}), options, args };
  };
}

/** Answers requests with what the method returned. */
function answerer({ answer, show }: Operation): (c: Context<ApiEnv>, result: unknown, status?: number) => Response {
  const { schema } = answer;
  if (!schema) return (c) => c.body(null, 204);
  const shown = show as ((answer: unknown, principal: ApiEnv['Variables']['principal']) => unknown) | undefined;
  return (c, result, status = statusOf(answer)) => {
    const seen = shown ? shown(result, c.var.principal) : result;
    const data = toWire(schema, seen);
    const more = answer.replays ? replayed((result as { duplicate: boolean }).duplicate) : {};
    return c.json(isList(schema) ? { data } : data, status as 200, more);
  };
}

import { z, type Hook, type RouteConfig } from '@hono/zod-openapi';
import { closest } from '../base/checks/unknown-keys.ts';
import { LanefoldError } from '../base/errors.ts';
import { fieldsAt } from '../base/operations/checked.ts';
import type { ApiApp, ApiEnv } from './env.ts';
import { invalidRequest, type FieldError } from './problem.ts';

type OnInvalid = Hook<unknown, ApiEnv, string, undefined>;

/** Rejects a request that does not match the schemas of its operation. */
const refuse = (result: Parameters<OnInvalid>[0], { request }: RouteConfig): undefined => {
  if (result.success) return undefined;
  const issues = result.error.issues as z.core.$ZodIssue[];
  const schema = result.target === 'json' ? bodyOf(request) : request?.query;
  if (result.target !== 'param') throw invalidFields(issues, schema as z.ZodType | undefined);
  throw new LanefoldError(
    'invalid_id',
    `The ${issues.map((issue) => issue.path.join('.')).join(', ')} in the path is not a valid id.`,
    {
      hint: 'Use 1 to 128 characters of [A-Za-z0-9._:@-], starting with a letter or digit.',
      details: { errors: issues.flatMap((issue) => toFieldErrors(issue, [])) },
    },
  );
};

const bodyOf = (request: RouteConfig['request']): unknown => {
  const content = request?.body?.content['application/json'];
  return content && 'schema' in content ? content.schema : undefined;
};

/**
 * Makes operations reject what their schemas do not allow. Those without query parameters reject any, as the others reject
 * parameters they do not know.
 */
export function refuseInvalid(app: ApiApp): void {
  const add = app.openapi as (route: RouteConfig, handler: unknown, hook: OnInvalid) => unknown;
  const strict = (given: RouteConfig, handler: unknown, hook?: OnInvalid) => {
    const none = given.path.startsWith('/v1/') && !given.request?.query;
    const route = none ? { ...given, request: { ...given.request, query: z.strictObject({}) } } : given;
    return add(route, handler, hook ?? ((result) => refuse(result, route)));
  };
  app.openapi = strict as typeof app.openapi;
}

/** The error for a body or query with these issues. @param schema names the field that was meant by an unknown one */
export const invalidFields = (issues: readonly z.core.$ZodIssue[], schema?: z.core.$ZodType): LanefoldError =>
  invalidRequest(issues.flatMap((issue) => toFieldErrors(issue, [], schema)).slice(0, 20));

function toFieldErrors(issue: z.core.$ZodIssue, before: PropertyKey[], schema?: z.core.$ZodType): FieldError[] {
  const path = [...before, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const known = schema ? fieldsAt(schema, path) : [];
    return issue.keys.slice(0, 20).map((key) => {
      const meant = closest(key, known);
      return { path: toPath([...path, key]), message: `Unknown field.${meant ? ` Did you mean ${meant}?` : ''}` };
    });
  }
  // Report the errors of the variant the caller meant: the one whose kind or type matches, else the last.
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const meant = issue.errors.find(
      (errors) => !errors.some((error) => ['kind', 'type'].includes(String(error.path[0]))),
    );
    return (meant ?? issue.errors.at(-1)!).flatMap((error) => toFieldErrors(error, path, schema));
  }
  return [{ path: toPath(path), message: issue.message.slice(0, 500) }];
}

/** `entries[0].payload.role` */
const toPath = (path: PropertyKey[]): string =>
  path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${String(key).slice(0, 100)}`))
    .join('');

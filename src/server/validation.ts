import { z, type Hook, type RouteConfig } from '@hono/zod-openapi';
import { LanefoldError } from '../base/errors.ts';
import type { ApiApp, ApiEnv } from './env.ts';
import { invalidRequest, type FieldError } from './problem.ts';

/** Rejects a request that does not match the schemas of its operation. */
export const onInvalid: Hook<unknown, ApiEnv, string, undefined> = (result) => {
  if (result.success) return undefined;
  const issues = result.error.issues as z.core.$ZodIssue[];
  if (result.target !== 'param') throw invalidFields(issues);
  throw new LanefoldError(
    'invalid_id',
    `The ${issues.map((issue) => issue.path.join('.')).join(', ')} in the path is not a valid id.`,
    {
      hint: 'Use 1 to 128 characters of [A-Za-z0-9._:@-], starting with a letter or digit.',
      details: { errors: issues.flatMap((issue) => toFieldErrors(issue, [])) },
    },
  );
};

/** Makes operations without query parameters reject any, as the others reject parameters they do not know. */
export function refuseQueries(app: ApiApp): void {
  const add = app.openapi as (route: RouteConfig, ...more: unknown[]) => unknown;
  const strict: typeof add = (route, ...more) => {
    const none = route.path.startsWith('/v1/') && !route.request?.query;
    return add(none ? { ...route, request: { ...route.request, query: z.strictObject({}) } } : route, ...more);
  };
  app.openapi = strict as typeof app.openapi;
}

/** The error for a body or query with these issues. */
export const invalidFields = (issues: readonly z.core.$ZodIssue[]): LanefoldError =>
  invalidRequest(issues.flatMap((issue) => toFieldErrors(issue, [])).slice(0, 20));

function toFieldErrors(issue: z.core.$ZodIssue, before: PropertyKey[]): FieldError[] {
  const path = [...before, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 20).map((key) => ({ path: toPath([...path, key]), message: 'Unknown field.' }));
  }
  // Report the errors of the variant the caller meant: the one whose kind or type matches, else the last.
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const meant = issue.errors.find(
      (errors) => !errors.some((error) => ['kind', 'type'].includes(String(error.path[0]))),
    );
    return (meant ?? issue.errors.at(-1)!).flatMap((error) => toFieldErrors(error, path));
  }
  return [{ path: toPath(path), message: issue.message.slice(0, 500) }];
}

/** `entries[0].payload.role` */
const toPath = (path: PropertyKey[]): string =>
  path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${String(key).slice(0, 100)}`))
    .join('');

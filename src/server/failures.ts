import type { HonoRequest } from 'hono';
import type { Principal } from '../base/access/principal.ts';
import { omitUndefined } from '../base/common/json.ts';
import { LanefoldError } from '../base/errors.ts';
import type { ApiApp } from './env.ts';
import { problemHeaders, toProblem } from './problem.ts';
import type { Site } from './site.ts';

/** Answers requests that fail, and those for which there is no route. */
export function answerFailures(app: ApiApp, { onError }: Pick<Site, 'onError'>): void {
  app.onError((error, c) => {
    const problem = toProblem(error);
    if (problem.status >= 500) {
      // unset if the request was rejected before its key was read
      const principal = c.get('principal') as Principal | undefined;
      onError(error, { method: c.req.method, path: c.req.path, ...omitUndefined({ actor: principal?.actor }) });
    }
    return c.body(JSON.stringify(problem), problem.status as 500, problemHeaders(problem.status, error));
  });
  app.notFound((c) => {
    const typed = withoutSlash(app, c.req);
    if (typed !== undefined) return c.redirect(typed, 308);
    const allowed = allowedMethods(app, c.req.path);
    if (allowed.length === 0) {
      throw new LanefoldError('not_found', `${c.req.path.slice(0, 200)} does not exist.`, {
        hint: 'See /openapi.json for all paths.',
      });
    }
    c.header('Allow', allowed.join(', '));
    throw new LanefoldError('method_not_allowed', `${c.req.method} is not allowed here.`, {
      hint: `Use ${allowed.join(' or ')}.`,
    });
  });
}

/** The methods a path supports; empty if the path does not exist. */
function allowedMethods(app: ApiApp, path: string): string[] {
  const methods = new Set<string>();
  for (const route of app.routes) {
    // Hono registers middlewares under ALL.
    if (route.method !== 'ALL' && fits(route.path, path)) methods.add(route.method);
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

/**
 * Where a page or a probe is whose address a person typed with a slash at its end; undefined for other requests. Paths under
 * /v1 are for programs, which are told.
 */
function withoutSlash(
  app: ApiApp,
  { method, path, url }: Pick<HonoRequest, 'method' | 'path' | 'url'>,
): string | undefined {
  if ((method !== 'GET' && method !== 'HEAD') || !/^\/[^/].*\/$/.test(path) || path.startsWith('/v1/'))
    return undefined;
  const meant = path.slice(0, -1);
  return allowedMethods(app, meant).includes('GET') ? `${meant}${new URL(url).search}` : undefined;
}

/** A `*` at the end of a route stands for any rest, a `:name` for one part. */
function fits(route: string, path: string): boolean {
  const parts = route.split('/');
  const given = path.split('/', parts.length + 1);
  const open = parts.at(-1) === '*';
  if (open ? given.length < parts.length : given.length !== parts.length) return false;
  return parts.every((part, i) => part === '*' || (part.startsWith(':') ? given[i] !== '' : part === given[i]));
}

import type { HonoRequest } from 'hono';
import type { ApiApp } from './env.ts';

/** The methods a path supports; empty if the path does not exist. */
export function allowedMethods(app: ApiApp, path: string): string[] {
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
export function withoutSlash(
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

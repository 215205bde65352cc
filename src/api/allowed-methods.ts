import type { HonoRequest } from 'hono';
import type { ApiApp } from './env.ts';

/** The methods a path supports; empty if the path does not exist. */
export function allowedMethods(app: ApiApp, path: string): string[] {
  const methods = new Set<string>();
  for (const route of app.routes) {
    // Hono registers middlewares under ALL.
    if (route.method !== 'ALL' && toPattern(route.path).test(path)) methods.add(route.method);
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

const toPattern = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split('/')
      .map((part) =>
        part === '*' ? '.*' : part.startsWith(':') ? '[^/]+' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'),
      )
      .join('/')}$`,
  );

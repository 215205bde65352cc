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

const toPattern = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split('/')
      .map((part) =>
        part === '*' ? '.*' : part.startsWith(':') ? '[^/]+' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'),
      )
      .join('/')}$`,
  );

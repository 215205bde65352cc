import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';

export interface RequestCounter {
  count: MiddlewareHandler;
  /** Totals by method, route and status. */
  counts(): { labels: { method: string; route: string; status: string }; value: number }[];
}

const known = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts responses by route. Labels come from the routes, not from requests, so their number is bounded. */
export function requestCounter(): RequestCounter {
  const values = new Map<string, number>();
  return {
    async count(c, next) {
      await next();
      const method = known.has(c.req.method) ? c.req.method : 'OTHER';
      const route = c.res.status === 404 || c.res.status === 405 ? '' : routePath(c, -1);
      const key = `${method} ${route} ${c.res.status}`;
      values.set(key, (values.get(key) ?? 0) + 1);
    },
    counts: () =>
      [...values].map(([key, value]) => {
        const [method = '', route = '', status = ''] = key.split(' ');
        return { labels: { method, route, status }, value };
      }),
  };
}

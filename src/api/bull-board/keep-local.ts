import type { MiddlewareHandler } from 'hono';
import { pagePolicy } from '../docs.ts';

/** Removes the page's link to a web font, so that it loads nothing from other hosts; the policy enforces it. */
export const keepLocal: MiddlewareHandler = async (c, next) => {
  await next();
  if (!c.res.headers.get('content-type')?.startsWith('text/html')) return;
  const html = (await c.res.text()).replace(/<link\b[^>]*\bhref="https?:\/\/[^>]*>/gi, '');
  c.res = new Response(html, { status: c.res.status, headers: { 'content-type': 'text/html; charset=utf-8' } });
  c.res.headers.set('Content-Security-Policy', pagePolicy);
};

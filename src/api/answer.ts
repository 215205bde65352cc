import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import type { ByteBudget } from './byte-budget.ts';
import type { ApiEnv } from './env.ts';

/** Smaller answers are not counted: the system holds about as much for each connection. */
const largeBytes = 65_536;
/** A client that takes nothing for so long has its connection closed. */
const stallMs = 30_000;

/**
 * Counts large answers to reads until their clients have taken them: clients that ask for pages and read none would fill
 * the memory. An answer for which there is no room is 503 `server_busy`. Streams have a budget of their own.
 */
export const limitedAnswer =
  (budget: ByteBudget): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    await next();
    if (c.req.method !== 'GET' || !c.res.headers.get('content-type')?.startsWith('application/json')) return;
    const text = await c.res.text();
    const { status, headers } = c.res;
    c.res = undefined;
    // one alone always has room
    const bytes = Math.min(Buffer.byteLength(text), budget.bytes);
    const outgoing = (c.env as Partial<HttpBindings> | undefined)?.outgoing;
    // a client that has left takes nothing, and its end is past
    if (bytes > largeBytes && outgoing && !outgoing.destroyed) {
      budget.take(bytes);
      outgoing.setTimeout(stallMs, () => outgoing.destroy());
      outgoing.once('close', () => budget.release(bytes));
    }
    c.res = new Response(text, { status, headers });
  };

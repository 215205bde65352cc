import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import type { ByteBudget } from './byte-budget.ts';
import type { ApiEnv } from './env.ts';

/** Smaller answers are not counted: each connection costs the system about as much anyway. */
const largeBytes = 65_536;
/** A client that reads nothing for this long is disconnected. */
const stallMs = 30_000;

/**
 * Counts the bytes of large answers to reads until their clients have taken them: clients that request pages without
 * reading them would fill the memory. Without room, the answer is 503 `server_busy`. Streams have a separate budget.
 */
export const limitedAnswer =
  (budget: ByteBudget): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    await next();
    if (c.req.method !== 'GET' || !c.res.headers.get('content-type')?.startsWith('application/json')) return;
    const text = await c.res.text();
    const { status, headers } = c.res;
    c.res = undefined;
    // a single answer always fits
    const bytes = Math.min(Buffer.byteLength(text), budget.bytes);
    const outgoing = (c.env as Partial<HttpBindings> | undefined)?.outgoing;
    // a disconnected client takes nothing, and its `close` event has already fired
    if (bytes > largeBytes && outgoing && !outgoing.destroyed) {
      budget.take(bytes);
      outgoing.setTimeout(stallMs, () => outgoing.destroy());
      outgoing.once('close', () => budget.release(bytes));
    }
    c.res = new Response(text, { status, headers });
  };

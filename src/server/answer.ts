import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import type { Principal } from '../base/access/principal.ts';
import { partyOf } from './access/limited-parties.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { ApiEnv } from './env.ts';
import { isDurable } from './stream-paths.ts';

/** Smaller answers are not counted: each connection costs the system about as much anyway. */
const largeBytes = 65_536;
/** A client that reads nothing for this long is disconnected. */
const stallMs = 30_000;
/** And none of the types that begin with it, such as `application/json-seq`. */
const jsonType = /^application\/json\s*(;|$)/i;

/**
 * Counts the bytes of large answers to reads until their clients have taken them: clients that request pages without
 * reading them would fill the memory. Without room, the answer is 503 `server_busy`. Streams have a separate budget.
 */
export const limitedAnswer =
  (budget: ByteBudget): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    await next();
    // streams hold what they answer themselves: their bytes are not to be decoded, whatever their type
    if (c.req.method !== 'GET' || isDurable(c.req.path)) return;
    if (!jsonType.test(c.res.headers.get('content-type') ?? '')) return;
    const text = await c.res.text();
    const { status, headers } = c.res;
    c.res = undefined;
    holdAnswer(c, budget, Buffer.byteLength(text));
    c.res = new Response(text, { status, headers });
  };

/**
 * Takes the bytes of a large answer from the budget until its client has taken it or left.
 *
 * @throws LanefoldError `server_busy`
 */
export function holdAnswer(c: Context<ApiEnv>, budget: ByteBudget, size: number): void {
  // a single answer always fits
  const bytes = Math.min(size, budget.bytes);
  const { incoming, outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
  if (bytes <= largeBytes || !incoming || !outgoing) return;
  const { socket } = incoming;
  // a disconnected client takes nothing, and its `close` event has already fired
  if (outgoing.destroyed || socket.destroyed) return;
  const held = budget.open(partyOf(c.get('principal') as Principal | undefined));
  held.take(bytes);
  outgoing.setTimeout(stallMs, () => outgoing.destroy());
  const release = () => {
    outgoing.off('close', release);
    socket.off('close', release);
    held.release();
  };
  outgoing.once('close', release);
  // Node closes no response that still waits for an earlier one of its connection
  socket.once('close', release);
}

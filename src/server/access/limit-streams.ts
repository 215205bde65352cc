import type { Context, MiddlewareHandler } from 'hono';
import { LanefoldError } from '../../base/errors.ts';
import type { ApiEnv } from '../env.ts';
import { isDurable } from '../stream-paths.ts';
import { limitedParties } from './limited-parties.ts';

/** Bounds the event streams that a key has open in this process. */
export function limitStreams(): MiddlewareHandler<ApiEnv> {
  const open = new Map<string, number>();
  const count = (actor: string, by: number) => {
    const now = (open.get(actor) ?? 0) + by;
    if (now > 0) open.set(actor, now);
    else open.delete(actor);
    return now;
  };
  return async (c, next) => {
    if (!wantsStream(c)) return next();
    const limited = limitedParties(c.get('principal')).filter(({ limits }) => limits.streams !== undefined);
    if (limited.length === 0) return next();
    const leave = () => limited.forEach(({ name }) => count(name, -1));
    const open = limited.map(({ name }) => count(name, 1));
    const full = limited.find(({ limits }, i) => open[i]! > limits.streams!);
    if (full) {
      leave();
      const who = full.tenant === undefined ? 'This key' : `Tenant ${full.tenant}`;
      throw new LanefoldError('rate_limited', `${who} may have at most ${full.limits.streams} open streams.`, {
        hint: 'Close one, or follow the whole thread with one stream.',
      });
    }
    try {
      await next();
    } finally {
      const { body } = c.res;
      if (body && c.res.headers.get('content-type')?.startsWith('text/event-stream')) {
        c.res = new Response(whenClosed(body, leave), c.res);
      } else leave();
    }
  };
}

/** Whether the response may be a stream: some operations always answer with one, others if they are asked to. */
function wantsStream({ req }: Context<ApiEnv>): boolean {
  if (req.path.startsWith('/v1/ag-ui/') || req.path.endsWith('/tree/events')) return true;
  if (isDurable(req.path)) return req.query('live') !== undefined;
  const format = req.query('format');
  return format === undefined ? (req.header('accept') ?? '').includes('text/event-stream') : format !== 'json';
}

/** The same stream; calls `closed` when its reader or its writer ends it. */
function whenClosed(stream: ReadableStream<Uint8Array>, closed: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      closed();
      controller.close();
    },
    async cancel(reason) {
      closed();
      await reader.cancel(reason);
    },
  });
}

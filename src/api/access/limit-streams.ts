import type { MiddlewareHandler } from 'hono';
import { LanefoldError } from '../../errors.ts';
import type { ApiEnv } from '../env.ts';
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
    const limited = limitedParties(c.get('principal')).filter(({ limits }) => limits.streams !== undefined);
    if (limited.length === 0) return next();
    const leave = () => limited.forEach(({ name }) => count(name, -1));
    const open = limited.map(({ name }) => count(name, 1));
    const full = limited.find(({ limits }, i) => open[i]! > limits.streams!);
    if (full && (isAgUi(c.req.path) || isStream(c.req.header('accept'), c.req.query('format')))) {
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

/** Always answers with a stream. */
const isAgUi = (path: string): boolean => path.startsWith('/v1/ag-ui/');

const isStream = (accept = '', format = ''): boolean => accept.includes('text/event-stream') || format !== '';

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

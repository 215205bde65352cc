import type { MiddlewareHandler } from 'hono';
import { LanefoldError } from '../../errors.ts';
import type { ApiEnv } from '../env.ts';

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
    const { actor, limits } = c.get('principal');
    if (limits?.streams === undefined) return next();
    if (count(actor, 1) > limits.streams && isStream(c.req.header('accept'), c.req.query('format'))) {
      count(actor, -1);
      throw new LanefoldError('rate_limited', `This key may have ${limits.streams} streams open.`, {
        hint: 'Close one, or follow the whole thread with one stream.',
      });
    }
    try {
      await next();
    } finally {
      const { body } = c.res;
      if (body && c.res.headers.get('content-type')?.startsWith('text/event-stream')) {
        c.res = new Response(
          whenClosed(body, () => count(actor, -1)),
          c.res,
        );
      } else count(actor, -1);
    }
  };
}

const isStream = (accept = '', format = ''): boolean => accept.includes('text/event-stream') || format !== '';

/** The same stream, which says when its reader or its writer has ended it. */
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

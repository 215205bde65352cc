import { isUtf8 } from 'node:buffer';
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { LanefoldError } from '../errors.ts';
import { assertStorable } from '../checks/text.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { ApiEnv } from './env.ts';
import { hasMoreValues } from './json-size.ts';
import { invalidJson, invalidRequest, jsonOf, unsupportedMediaType } from './problem.ts';
import { takesBytes } from './stream-paths.ts';
import { after, type Timer } from '../common/timer.ts';

/** Parsing and checking this many values takes at most 200 ms. */
const maxValues = 50_000;

export interface BodyLimits {
  /** Of one body. */
  maxBytes: number;
  /** How long a body may take to arrive. */
  timeoutMs: number;
  /** Shared by all requests of the server, until they are answered. */
  budget: ByteBudget;
}

/** Reads the body if a route handles the request, and rejects one that is too large or too slow. */
export const limitedBody =
  ({ maxBytes, timeoutMs, budget }: BodyLimits): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    const { method, body, headers } = c.req.raw;
    keepBody(c, empty);
    // middlewares match every method
    const wanted = matchedRoutes(c).some((route) => route.method !== 'ALL');
    if (!wanted || body === null || method === 'GET' || method === 'HEAD') return next();
    if (Number(headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
    let held = 0;
    // Content-Length may be missing or wrong.
    const hold = (bytes: number) => {
      if (held + bytes > maxBytes) throw tooLarge(maxBytes);
      budget.take(bytes);
      held += bytes;
    };
    try {
      keepBody(c, await readAll(body, hold, timeoutMs));
      await next();
    } finally {
      budget.release(held);
    }
  };

async function readAll(
  body: ReadableStream<Uint8Array>,
  hold: (bytes: number) => void,
  timeoutMs: number,
): Promise<Buffer> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => (timer = after(timeoutMs, () => reject(tooSlow(timeoutMs)))));
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late]);
      if (done) return Buffer.concat(chunks);
      hold(value.byteLength);
      chunks.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => {});
    throw error;
  } finally {
    timer?.cancel();
  }
}

const empty = Buffer.alloc(0);

/** Hono and Bull Board read the body themselves; without this they would find it already consumed. */
function keepBody(c: Context<ApiEnv>, bytes: Buffer): void {
  c.set('body', bytes);
  const own = bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : new Uint8Array(bytes).buffer;
  c.req.bodyCache.arrayBuffer = Promise.resolve(own) as never;
}

/** Forgets the body of a request whose response may stay open for hours. Expects that nothing reads it again. */
export function dropBody(c: Context<ApiEnv>): void {
  c.req.bodyCache = {};
  keepBody(c, empty);
  c.req.json = () => Promise.resolve({}) as never;
  c.req.addValidatedData('json', {});
}

const jsonType = /^application\/([\w.-]+\+)?json\s*(;\s*charset="?utf-8"?\s*)?$/i;

/**
 * Rejects a body unless it is JSON that the database can return unchanged. An empty body counts as an empty object, and so
 * does the data of a stream.
 */
export const jsonBody: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (takesBytes(c.req.path)) {
    if ((c.req.header('content-encoding') ?? 'identity') !== 'identity') throw unsupportedMediaType();
    c.req.json = () => Promise.resolve({}) as never;
    return next();
  }
  const bytes = c.get('body');
  const type = c.req.header('content-type');
  const encoding = c.req.header('content-encoding') ?? 'identity';
  if (bytes.byteLength > 0 || type !== undefined) {
    if (!jsonType.test(type ?? '') || encoding !== 'identity') throw unsupportedMediaType();
  }
  let value: unknown = {};
  if (bytes.byteLength > 0) {
    if (!isUtf8(bytes)) throw invalidJson('it is not UTF-8');
    if (hasMoreValues(bytes, maxValues))
      throw invalidRequest([{ path: '', message: `The body has more than ${maxValues} values. Send it in parts.` }]);
    value = jsonOf(bytes.toString('utf8'));
    assertStorable(value, 'The body');
  }
  c.req.json = () => Promise.resolve(value) as never;
  await next();
};

const tooSlow = (timeoutMs: number): LanefoldError =>
  new LanefoldError('body_timeout', `The body did not arrive within ${timeoutMs} ms.`, {
    hint: 'Nothing was written. Send the whole body without pauses.',
  });

const tooLarge = (maxBytes: number): LanefoldError =>
  new LanefoldError('body_too_large', `The body is larger than ${maxBytes} bytes.`, {
    hint: 'Send less at once, or increase maxBodyBytes of startServer.',
  });

import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Principal } from '../base/access/principal.ts';
import { assertStorable } from '../base/checks/values.ts';
import { partyOf } from './access/limited-parties.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { ApiEnv } from './env.ts';
import { jsonOf, unsupportedMediaType } from './problem.ts';
import { discard, readBody, tooLarge, type BodyBounds } from './read-body.ts';
import { takesBytes } from './stream-paths.ts';

export interface BodyLimits extends Omit<BodyBounds, 'hint'> {
  /** Shared by all requests of the server, until they are answered. */
  budget: ByteBudget;
}

/**
 * Reads the body if a route handles the request, and rejects one that is too large or too slow. A body is read only after
 * the credential of its request was checked: in front of a route that checks none, this fails every request.
 */
export const limitedBody =
  ({ maxBytes, timeoutMs, budget }: BodyLimits): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    if (!c.get('admitted')) throw new Error('A body is read before the credential of its request.');
    const { method, body, headers } = c.req.raw;
    keepBody(c, empty);
    // middlewares match every method
    const wanted = matchedRoutes(c).some((route) => route.method !== 'ALL');
    if (!wanted || body === null || method === 'GET' || method === 'HEAD') return next();
    if (Number(headers.get('content-length') ?? 0) > maxBytes) {
      discard(body.getReader());
      throw tooLarge(maxBytes, hint);
    }
    const held = budget.open(partyOf(c.get('principal') as Principal | undefined));
    try {
      keepBody(c, await readBody(body, { maxBytes, timeoutMs, hint }, held.take));
      await next();
    } finally {
      held.release();
    }
  };

const hint = 'Send less at once, or increase maxBodyBytes of startServer.';
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
  setJson(c, {});
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
    setJson(c, {});
    return next();
  }
  const bytes = c.get('body');
  const type = c.req.header('content-type');
  const encoding = c.req.header('content-encoding') ?? 'identity';
  if (bytes.byteLength > 0 || type !== undefined) {
    if (!jsonType.test(type ?? '') || encoding !== 'identity') throw unsupportedMediaType();
  }
  keepJson(c, bytes);
  await next();
};

/** For Bull Board, which reads the JSON of any body itself. */
export const jsonIfAny: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const bytes = c.get('body');
  if (bytes.byteLength > 0) keepJson(c, bytes);
  await next();
};

function keepJson(c: Context<ApiEnv>, bytes: Buffer): void {
  const value: unknown = bytes.byteLength > 0 ? jsonOf(bytes) : {};
  assertStorable(value, 'The body');
  setJson(c, value);
}

/** Hono's validators and Bull Board ask the request for its JSON. */
function setJson(c: Context<ApiEnv>, value: unknown): void {
  c.set('json', value);
  c.req.json = () => Promise.resolve(value) as never;
}

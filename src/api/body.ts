import { isUtf8 } from 'node:buffer';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from './env.ts';
import { LanefoldError } from '../errors.ts';
import { assertStorable } from '../text.ts';
import { invalidJson, invalidRequest, unsupportedMediaType } from './problem.ts';

/** Deeper than any message; protects everything that walks a body recursively. */
const maxDepth = 100;

/** Reads the body before anything else does, and rejects more than `maxBytes`. */
export const limitedBody =
  (maxBytes: number): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    const { body, headers } = c.req.raw;
    const declared = Number(headers.get('content-length') ?? 0);
    if (declared > maxBytes) throw tooLarge(maxBytes);
    const chunks: Uint8Array[] = [];
    let size = 0;
    // Content-Length may be missing or wrong.
    for await (const chunk of body ?? []) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks, size);
    c.req.bodyCache.arrayBuffer = Promise.resolve(new Uint8Array(bytes).buffer) as never;
    c.set('body', bytes);
    await next();
  };

const jsonType = /^application\/([\w.-]+\+)?json\s*(;\s*charset="?utf-8"?\s*)?$/i;

/** Rejects a body unless it is JSON that the database can return unchanged. An empty body counts as an empty object. */
export const jsonBody: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const bytes = c.get('body');
  const type = c.req.header('content-type');
  const encoding = c.req.header('content-encoding') ?? 'identity';
  if (bytes.byteLength > 0 || type !== undefined) {
    if (!jsonType.test(type ?? '') || encoding !== 'identity') throw unsupportedMediaType();
  }
  let value: unknown = {};
  if (bytes.byteLength > 0) {
    if (!isUtf8(bytes)) throw invalidJson('it is not UTF-8');
    try {
      value = JSON.parse(bytes.toString('utf8'));
    } catch (error) {
      throw invalidJson(error instanceof Error ? error.message : 'it cannot be parsed');
    }
    assertPlain(value);
    assertStorable(value, 'The body');
  }
  c.req.json = () => Promise.resolve(value) as never;
  await next();
};

/** Walks level by level, so that deep nesting cannot overflow the stack. */
function assertPlain(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) {
      throw invalidRequest([{ path: '', message: `The body is nested deeper than ${maxDepth} levels.` }]);
    }
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === 'number' && !Number.isFinite(item)) {
        throw invalidRequest([{ path: '', message: 'A number is out of range.' }]);
      }
      if (item === null || typeof item !== 'object') continue;
      for (const child of Array.isArray(item) ? item : Object.values(item)) next.push(child);
    }
    level = next;
  }
}

const tooLarge = (maxBytes: number): LanefoldError =>
  new LanefoldError('body_too_large', `The body is larger than ${maxBytes} bytes.`, {
    hint: 'Send less at once, or increase maxBodyBytes of startServer.',
  });

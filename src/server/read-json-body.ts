import type { JsonObject } from '../agent/context/message.ts';
import { invalidRequest, jsonOf, unsupportedMediaType } from './problem.ts';
import { defaultBodyTimeoutMs, readBody } from './read-body.ts';

/**
 * The JSON object that a request of the web's `Request` carries. Call it only once the request is authorised.
 *
 * @param hint what to do about a body that is too large
 * @throws LanefoldError `unsupported_media_type`, `body_too_large`, `body_timeout`, `invalid_json`, `invalid_request`
 */
export async function readJsonBody(request: Request, maxBytes: number, hint: string): Promise<JsonObject> {
  // other sites cannot send this type without a preflight request, which fails
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? '')) throw unsupportedMediaType();
  const bounds = { maxBytes, timeoutMs: defaultBodyTimeoutMs, hint };
  const bytes = request.body ? await readBody(request.body, bounds) : Buffer.alloc(0);
  const body = bytes.byteLength === 0 ? {} : jsonOf(bytes);
  if (body !== null && typeof body === 'object' && !Array.isArray(body)) return body as JsonObject;
  throw invalidRequest([{ path: '', message: 'Must be an object.' }]);
}

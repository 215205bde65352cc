import type { JsonObject } from '../context/message.ts';
import { LanefoldError } from '../errors.ts';
import { invalidRequest, jsonOf, unsupportedMediaType } from './problem.ts';

/**
 * The JSON object that a request of the web's `Request` carries.
 *
 * @param hint what to do about a body that is too large
 * @throws LanefoldError `unsupported_media_type`, `body_too_large`, `invalid_json`, `invalid_request`
 */
export async function readJsonBody(request: Request, maxBytes: number, hint: string): Promise<JsonObject> {
  // other sites cannot send this type without a preflight request, which fails
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? '')) throw unsupportedMediaType();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      throw new LanefoldError('body_too_large', `The body is larger than ${maxBytes} bytes.`, {
        hint,
      });
    }
    chunks.push(chunk);
  }
  const body = jsonOf(bytes === 0 ? '{}' : Buffer.concat(chunks).toString('utf8'));
  if (body !== null && typeof body === 'object' && !Array.isArray(body)) return body as JsonObject;
  throw invalidRequest([{ path: '', message: 'Must be an object.' }]);
}

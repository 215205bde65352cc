import { after, type Timer } from '../base/common/timer.ts';
import { LanefoldError } from '../base/errors.ts';

export const defaultMaxBodyBytes = 4 * 1024 * 1024;
export const defaultBodyTimeoutMs = 20_000;

export interface BodyBounds {
  /** Of one body. */
  maxBytes: number;
  /** How long a body may take to arrive. */
  timeoutMs: number;
  /** What to do about a body that is too large. */
  hint: string;
}

/**
 * Reads a body to its end. Call it only once the credential of its request has been checked.
 *
 * @param hold reserves memory for the next bytes, and may throw
 * @throws LanefoldError `body_too_large`, `body_timeout`, `body_incomplete`
 */
export async function readBody(
  body: ReadableStream<Uint8Array>,
  { maxBytes, timeoutMs, hint }: BodyBounds,
  hold: (bytes: number) => void = () => {},
): Promise<Buffer> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let read = 0;
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => (timer = after(timeoutMs, () => reject(tooSlow(timeoutMs)))));
  // a connection that is cut says so in the words of its platform
  const next = () =>
    reader.read().catch((cause: unknown) => {
      throw incomplete(cause);
    });
  try {
    for (;;) {
      const { done, value } = await Promise.race([next(), late]);
      if (done) return Buffer.concat(chunks);
      read += value.byteLength;
      // Content-Length may be missing or wrong.
      if (read > maxBytes) throw tooLarge(maxBytes, hint);
      hold(value.byteLength);
      chunks.push(value);
    }
  } catch (error) {
    discard(reader);
    throw error;
  } finally {
    timer?.cancel();
  }
}

const discardMs = 500;

/**
 * Reads on without keeping anything: a connection whose body stays unread is closed under the next request that it carries. A
 * client that still sends after half a second is cut off.
 */
export function discard(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  const cancel = () => void reader.cancel().catch(() => {});
  const timer = after(discardMs, cancel, { ref: false });
  const readOn = async () => {
    while (!(await reader.read()).done);
  };
  readOn().catch(cancel).finally(timer.cancel);
}

const incomplete = (cause: unknown): LanefoldError =>
  new LanefoldError('body_incomplete', 'The connection ended before the whole body had arrived.', {
    hint: 'Nothing was written. Send the request again.',
    cause,
  });

const tooSlow = (timeoutMs: number): LanefoldError =>
  new LanefoldError('body_timeout', `The body did not arrive within ${timeoutMs} ms.`, {
    hint: 'Nothing was written. Send the whole body without pauses.',
  });

export const tooLarge = (maxBytes: number, hint: string): LanefoldError =>
  new LanefoldError('body_too_large', `The body is larger than ${maxBytes} bytes.`, { hint });

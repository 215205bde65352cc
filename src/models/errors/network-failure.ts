import { networkErrorCodes } from '../../network-error-codes.ts';

const isNetworkCode = (code: string): boolean =>
  networkErrorCodes.has(code) ||
  code === 'ECONNABORTED' ||
  code === 'ERR_STREAM_PREMATURE_CLOSE' ||
  code.startsWith('UND_ERR_');

const texts = /fetch failed|failed to fetch|socket hang up|other side closed|^terminated$|network error/i;

/**
 * Whether the connection to the provider failed, rather than the request. Follows `cause`, where fetch puts the socket
 * error. An AbortError counts: our own aborts never get here, so a proxy between us and the model gave up.
 */
export function isNetworkFailure(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    const { code, name, message, cause } = current as Error & { code?: unknown };
    if (typeof code === 'string' && isNetworkCode(code)) return true;
    if (name === 'AbortError' || name === 'TimeoutError' || texts.test(message)) return true;
    current = cause;
  }
  return false;
}

const codes = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

const texts = /fetch failed|failed to fetch|socket hang up|other side closed|^terminated$|network error/i;

/**
 * Whether the connection, not the request, failed. Looks through `cause`, because fetch hides the socket's error
 * there. AbortError counts: our own aborts never reach this, so somebody between us and the model gave up.
 */
export function isConnectionError(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    const { code, name, message, cause } = current as Error & { code?: unknown };
    if (typeof code === 'string' && (codes.has(code) || code.startsWith('UND_ERR_'))) return true;
    if (name === 'AbortError' || name === 'TimeoutError' || texts.test(message)) return true;
    current = cause;
  }
  return false;
}

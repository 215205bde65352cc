/**
 * Calls `act` once `signal` aborts, or now if it has already: the platform never calls a listener that comes too late.
 *
 * @returns what stops listening
 */
export function onAbort(signal: AbortSignal | null | undefined, act: () => void): () => void {
  if (signal?.aborted) {
    act();
    return () => {};
  }
  signal?.addEventListener('abort', act, { once: true });
  return () => signal?.removeEventListener('abort', act);
}

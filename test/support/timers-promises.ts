/**
 * Stands in for node:timers/promises where a test fakes the clock: vi.useFakeTimers replaces the global setTimeout, but
 * not the promise form.
 *
 * @example
 * vi.mock('node:timers/promises', () => import('../support/timers-promises.ts'));
 */
const fakeable = <T>(ms: number, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = globalThis.setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve(value as T);
    }, ms);
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort, { once: true });
  });

export { fakeable as setTimeout };

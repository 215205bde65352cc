import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { vi } from 'vitest';

const original = timersPromises.setTimeout;

/** Fakes the timers, including the promise form of setTimeout, which vi.useFakeTimers leaves alone. */
export function useFakeClock(): void {
  vi.useFakeTimers();
  timersPromises.setTimeout = fakeDelay as typeof original;
  syncBuiltinESMExports();
}

export function useRealClock(): void {
  vi.useRealTimers();
  timersPromises.setTimeout = original;
  syncBuiltinESMExports();
}

const fakeDelay = <T>(ms: number, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> =>
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

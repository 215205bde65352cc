import { setTimeout as delay } from 'node:timers/promises';

/** Asks `probe` again until it gives a value, or `undefined` when `timeoutMs` passed first. */
export async function poll<T>(
  probe: () => T | undefined | Promise<T | undefined>,
  { timeoutMs, everyMs = 5 }: { timeoutMs: number; everyMs?: number },
): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined || performance.now() >= deadline) return value;
    await delay(everyMs);
  }
}

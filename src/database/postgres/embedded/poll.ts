import { delay } from '../../../base/common/timer.ts';

/** Calls `probe` until it returns a value; returns `undefined` after `timeoutMs`. */
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

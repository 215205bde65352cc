import { setTimeout as delay } from 'node:timers/promises';
import { isConnectionError, isTransient } from '../../postgres/errors.ts';

/** Longer than any fault lasts: an error that is still there is none of them. */
const patienceMs = 60_000;

/** Retries a request that wrote nothing or may have written nothing, as a careful client does: each has an idempotency key. */
export async function persist<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      const mayPass = isConnectionError(error) || (isTransient(error) && performance.now() < giveUpAt);
      if (!mayPass || signal.aborted) throw error;
      await delay(100);
    }
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { isTransient } from '../../postgres/errors.ts';

/** Repeats a request that wrote nothing, or of which that is unknown, as a careful client does: each has an idempotency key. */
export async function persist<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      await delay(100);
    }
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { isConnectionError } from '../../postgres/errors.ts';

/** Retries after connection errors, as a careful client does: every request carries an idempotency key. */
export async function persist<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!isConnectionError(error) || signal.aborted) throw error;
      await delay(100);
    }
  }
}

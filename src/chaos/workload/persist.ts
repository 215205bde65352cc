import { setTimeout as delay } from 'node:timers/promises';
import { isConnectionError } from '../../postgres/errors.ts';

/** Asks again over lost connections, as a careful client does: every call here carries a key that makes it count once. */
export async function persist<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isConnectionError(error) || signal.aborted) throw error;
      await delay(100);
    }
  }
}

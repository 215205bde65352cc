import { isConnectionError, isTransient } from '../../../database/postgres/errors.ts';
import { delay } from '../../../base/common/timer.ts';

/** Longer than any fault lasts: an error that persists is not caused by one. */
const patienceMs = 60_000;
const seriesMs = 5_000;

/**
 * Retries a request that wrote nothing or may have written nothing, as a careful client does: each has an idempotency
 * key.
 */
export async function persist<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  let failingSince: number | undefined;
  for (;;) {
    const askedAt = performance.now();
    try {
      return await request();
    } catch (error) {
      // a request that took long enough starts a new series of failures
      if (failingSince === undefined || performance.now() - askedAt > seriesMs) failingSince = performance.now();
      const mayPass = isConnectionError(error) || (isTransient(error) && performance.now() - failingSince < patienceMs);
      if (!mayPass || signal.aborted) throw error;
      await delay(100);
    }
  }
}

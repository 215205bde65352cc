import { isLanefoldError } from '../../base/errors.ts';
import { delay } from '../../base/common/timer.ts';

const pauseMs = 500;

/** Retries a read until the database can be reached: a stream outlives a lost connection. */
export async function untilReachable<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!isLanefoldError(error, 'database_unreachable') && !isLanefoldError(error, 'database_busy')) throw error;
      await delay(pauseMs);
    }
  }
}

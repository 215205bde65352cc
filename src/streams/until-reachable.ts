import { isLanefoldError } from '../errors.ts';

const pauseMs = 500;

/** Asks until the database answers: a stream waits a lost connection out. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isLanefoldError(error, 'database_unreachable')) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

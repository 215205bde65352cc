import { isClientError, type LanefoldClientError } from '../client/errors.ts';
import { backoffMs, pause } from '../client/pause.ts';
import type { StreamItem } from '../client/stream-item.ts';

/** The first pause if it is missing although the server has just said that it exists, as a replica that lags may say. */
const firstPauseMs = 500;

interface Awaited {
  /** Says that it does not exist yet. */
  missing: (error: LanefoldClientError) => void;
  /** A stream that waits for it. */
  arrival: () => AsyncIterable<StreamItem>;
  signal: AbortSignal;
}

/** Does the work on a thread or a run, which may not exist yet: then it waits for it, and starts over. */
export async function onceItExists(work: () => Promise<void>, { missing, arrival, signal }: Awaited): Promise<void> {
  for (let misses = 1; ; misses++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isMissing(error)) throw error;
      missing(error);
    }
    if (misses > 1) await pause(backoffMs(misses - 1, firstPauseMs), signal);
    for await (const _ of arrival()) break;
  }
}

const isMissing = (error: unknown): error is LanefoldClientError =>
  isClientError(error, 'thread_not_found') || isClientError(error, 'run_not_found');

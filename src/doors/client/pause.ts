import { after, onAbort } from '../../base/common/timer.ts';

const longestMs = 15_000;

/** Resolves after `ms`, or at once when `signal` aborts. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    let unlisten = () => {};
    const done = () => {
      timer.cancel();
      unlisten();
      resolve();
    };
    const timer = after(ms, done);
    unlisten = onAbort(signal, done);
  });

/** The pause before attempt `failures` + 1: doubled each time, with jitter, so that clients do not return together. */
export const backoffMs = (failures: number, firstMs: number): number =>
  Math.min(firstMs * 2 ** (failures - 1), longestMs) * (0.5 + Math.random() / 2);

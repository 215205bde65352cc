import { onAbort } from './on-abort.ts';
// The only timers of the product, for Node and browsers. A platform's own timer waits for at most 2^31 - 1 ms: a longer
// wait is over at once.

/** The longest wait a timer of the platform can keep, in ms. */
const maxMs = 2 ** 31 - 1;

/** In a browser, it is a number. */
type PlatformTimer = ReturnType<typeof setTimeout> & { refresh?(): unknown; unref?(): unknown };

export interface TimerOptions {
  /** False: the timer does not keep the process alive. Default: true. */
  ref?: boolean;
}

export interface Timer {
  /** Has no effect on a timer that has fired. */
  cancel(): void;
  /** Starts the wait again from now, also after the timer has fired or was cancelled. */
  restart(): void;
}

/**
 * Calls `action` once after `ms`, however long that is: at once if it is negative, never if it is Infinity.
 *
 * @throws RangeError if `ms` is NaN
 */
export function after(ms: number, action: () => unknown, { ref = true }: TimerOptions = {}): Timer {
  if (Number.isNaN(ms)) throw new RangeError('A timer cannot wait for NaN ms.');
  let handle: PlatformTimer | undefined;
  const wait = (leftMs: number) => {
    const partMs = Math.min(Math.max(leftMs, 0), maxMs);
    handle = setTimeout(() => (leftMs > partMs ? wait(leftMs - partMs) : action()), partMs) as PlatformTimer;
    if (!ref) handle.unref?.();
  };
  const start = () => {
    if (ms !== Infinity) wait(ms);
  };
  start();
  const cancel = () => {
    clearTimeout(handle);
    handle = undefined;
  };
  return {
    cancel,
    restart() {
      // Node restarts a timer without making another: an answer does so with each of its parts
      if (ms <= maxMs && handle?.refresh) handle.refresh();
      else {
        cancel();
        start();
      }
    },
  };
}

/** Calls `action` each time `ms` have passed, as `after`. */
export function every(ms: number, action: () => unknown, options?: TimerOptions): Pick<Timer, 'cancel'> {
  const timer = after(
    ms,
    () => {
      timer.restart();
      action();
    },
    options,
  );
  return timer;
}

/** Resolves after `ms`, as `after`; rejects with the reason of `signal` as soon as that aborts. */
export const delay = (ms: number, { signal, ...options }: TimerOptions & { signal?: AbortSignal | undefined } = {}) =>
  new Promise<void>((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = after(
      ms,
      () => {
        unlisten();
        resolve();
      },
      options,
    );
    const unlisten = onAbort(signal, () => {
      timer.cancel();
      reject(signal!.reason as Error);
    });
  });

/** A signal that aborts after `ms`, as `after`; with a `TimeoutError`, as that of `AbortSignal.timeout`. Cancel it when the work is done. */
export function deadline(ms: number, options?: TimerOptions): { signal: AbortSignal; cancel(): void } {
  const own = new AbortController();
  const reason = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  const { cancel } = after(ms, () => own.abort(reason()), options);
  return { signal: own.signal, cancel };
}

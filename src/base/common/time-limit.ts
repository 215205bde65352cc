import { after } from './timer.ts';
import { onAbort } from './on-abort.ts';

/** Rejects if `work` has not settled after `ms`. The work itself continues, because a promise cannot be cancelled. */
export const within = <T>(ms: number, work: Promise<T>): Promise<T> =>
  orLate(ms, work, () => {
    throw new DOMException(`no answer within ${ms} ms`, 'TimeoutError');
  });

/** The outcome of `work`, or of `late` if `work` has not settled after `ms`. */
export const orLate = <T, Late = undefined>(ms: number, work: Promise<T>, late: () => Late): Promise<T | Late> =>
  new Promise<T | Late>((resolve, reject) => {
    const timer = after(ms, () => {
      try {
        resolve(late());
      } catch (error) {
        reject(error as Error);
      }
    });
    work.then(resolve, reject).finally(timer.cancel);
  });

export interface TimeLimit {
  ms: number;
  /** Ends the work early, with its reason. */
  signal?: AbortSignal | undefined;
  /** What the work fails with once its time is over. */
  late: () => Error;
}

/**
 * Starts work of the user and returns what it returns, or rejects with what it throws, if that takes at most `ms` by the
 * clock. The timer alone does not tell, because it cannot fire while the work blocks the thread. Work that is late, or that
 * `signal` ends, has its own signal aborted, and whatever it still does is ignored.
 */
export async function timed<T>(
  start: (signal: AbortSignal) => T | PromiseLike<T>,
  { ms, signal, late }: TimeLimit,
): Promise<T> {
  const controller = new AbortController();
  const begunAt = performance.now();
  const isOver = () => performance.now() - begunAt > ms;
  const tooLate = (): Error => {
    const reason = late();
    controller.abort(reason);
    return reason;
  };
  let started: T | PromiseLike<T>;
  try {
    started = start(controller.signal);
  } catch (error) {
    throw isOver() ? tooLate() : error;
  }
  if (!isThenable(started)) {
    if (isOver()) throw tooLate();
    return started;
  }
  const pending = Promise.resolve(started);
  return new Promise((resolve, reject) => {
    let unlisten = () => {};
    const release = () => {
      timer.cancel();
      unlisten();
    };
    // Reject before aborting: the reaction of the work to its signal must not become the outcome.
    const abandon = (reason: unknown) => {
      release();
      reject(reason);
      controller.abort(reason);
    };
    const timer = after(ms, () => abandon(late()));
    const settle = (give: () => void) => {
      if (isOver()) return abandon(late());
      release();
      give();
    };
    pending.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
    unlisten = onAbort(signal, () => abandon(signal?.reason));
  });
}

const isThenable = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function';

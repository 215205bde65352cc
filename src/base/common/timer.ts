// The only timers of the product, for Node and browsers. A platform's own timer waits for at most 2^31 - 1 ms: a longer
// wait is over at once.

/** The longest wait a timer of the platform can keep, in ms. */
const maxMs = 2 ** 31 - 1;

/** In a browser, it is a number. */
type PlatformTimer = ReturnType<typeof setTimeout> & { refresh?(): unknown; unref?(): unknown };

interface TimerOptions {
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

/** A signal that aborts after `ms`, as `after`; with a `TimeoutError`, as `AbortSignal.timeout` does. Cancel it when the work is done. */
export function deadline(ms: number, options?: TimerOptions): { signal: AbortSignal; cancel(): void } {
  const own = new AbortController();
  const reason = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  const { cancel } = after(ms, () => own.abort(reason()), options);
  return { signal: own.signal, cancel };
}

/** What waits for a signal, as one listener of the platform: Node warns of a leak at the eleventh. */
class Acts extends Set<() => void> {
  handleEvent() {
    for (const act of this) act();
  }
}

const waiting = new WeakMap<AbortSignal, Acts>();

/**
 * Calls `act` once `signal` aborts, or now if it has already: the platform never calls a listener that comes too late. `act` must
 * not throw.
 *
 * @returns what stops listening
 */
export function onAbort(signal: AbortSignal | null | undefined, act: () => void): () => void {
  if (!signal || signal.aborted) {
    if (signal) act();
    return () => {};
  }
  const own = () => act();
  const acts = waiting.get(signal) ?? new Acts();
  waiting.set(signal, acts.add(own));
  signal.addEventListener('abort', acts, { once: true });
  return () => {
    acts.delete(own);
    if (acts.size === 0) signal.removeEventListener('abort', acts);
  };
}

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

interface TimeLimit {
  ms: number;
  /** Ends the work early, with its reason. */
  signal?: AbortSignal | undefined;
  /** What the work fails with once its time is over. */
  late: () => Error;
}

/**
 * Starts work of the user and returns what it returns, or rejects with what it throws, if that takes at most `ms` by the
 * clock. The timer alone does not tell, because it cannot fire while the work blocks the thread. Work that is late, or that
 * `signal` ends, has its own signal aborted, and its result is ignored.
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

/** Tells the time, in whole ms since 1970. */
export interface Clock {
  now(): number;
}

/** The clock of this process, which may be wrong: what is due by it concerns no other process. */
export const processClock: Clock = { now: () => Date.now() };

/** A time by `clock` as the clock of this process will show it. */
export const asHere = (clock: Clock, timeMs: number): number => timeMs - clock.now() + Date.now();

/** A time by the clock of this process as `clock` will show it. */
export const asThere = (clock: Clock, timeMs: number): number => timeMs - Date.now() + clock.now();

/** Polls for work, once at a time: calls while it polls lead to one more poll. */
export class CoalescedPoll {
  #polling: Promise<void> | undefined;
  #again = false;
  #closed = false;

  /** @param work must end soon once `stopping` says so */
  constructor(
    private readonly work: (stopping: () => boolean) => Promise<unknown>,
    private readonly onError: (error: unknown) => void,
  ) {}

  get isPolling(): boolean {
    return this.#polling !== undefined;
  }

  poll(): Promise<void> {
    if (this.#polling) this.#again = true;
    else if (!this.#closed) this.#polling = this.#poll().finally(() => (this.#polling = undefined));
    return this.#polling ?? Promise.resolve();
  }

  /** Resolves once the last poll is over. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#polling;
  }

  async #poll(): Promise<void> {
    do {
      this.#again = false;
      await this.work(() => this.#closed).catch(this.onError);
    } while (this.#again && !this.#closed);
  }
}

import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';
import type { Acting, Scheduled, Timed } from './acting.ts';

/** The event that is happening: who acts, and on which clock. */
interface Moment {
  clock: Timed;
  acting: Acting;
}

const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, random: Math.random };
const realNow = { date: Date.now, performance: performance.now.bind(performance), timeout: AbortSignal.timeout };
const realDelay = promises.setTimeout;
let moment: Moment | undefined;
let installed = false;

/** Who acts in the event that is happening. @throws if nobody does */
export function acting(): Acting {
  if (!moment) throw new Error('Nobody acts.');
  return moment.acting;
}

/** Resolves when everything has happened that needs no time. */
export const quiescence = (): Promise<void> => new Promise((resolve) => real.setImmediate(resolve));

/**
 * What runs between this call and the next sees the clock of this process and the chances of its seed: timers, the time,
 * and random numbers. Undefined: the real ones. Events that have no one acting, such as the database, see the real ones.
 */
export function enter(next: Moment | undefined): void {
  if (!installed) install();
  moment = next;
}

/** A timer of one process. It is gone when the process crashes, and late when the process is frozen. */
class Timer {
  #scheduled: Scheduled | undefined;

  constructor(
    private readonly of: Moment,
    private readonly ms: number,
    private readonly act: () => void,
    private readonly repeats = false,
  ) {
    this.#start();
  }

  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;

  refresh(): this {
    if (this.#scheduled) this.clear();
    this.#start();
    return this;
  }

  clear(): void {
    if (this.#scheduled) this.#scheduled.cancelled = true;
    this.#scheduled = undefined;
  }

  #start(): void {
    this.#scheduled = this.of.clock.in(Math.max(1, Math.ceil(this.ms)), this.of.acting, () => {
      this.#scheduled = undefined;
      if (this.repeats) this.#start();
      this.act();
    });
    this.#scheduled.timer = true;
  }
}

const clear = (of: (timer: never) => void) => (timer: unknown) =>
  timer instanceof Timer ? timer.clear() : of(timer as never);

/** As `setTimeout` of `node:timers/promises`. */
function delay<T>(of: Moment, ms: number, value: T, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      timer.clear();
      reject(new DOMException('The operation was aborted', 'AbortError'));
    };
    const timer = new Timer(of, ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve(value);
    });
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Replaces what the product and its libraries take time and chance from. Outside of an event, all of it stays real. */
function install(): void {
  installed = true;
  const timer =
    (make: (...args: never[]) => unknown, repeats: boolean) =>
    (act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      moment ? new Timer(moment, ms, () => act(...args), repeats) : make(...([act, ms, ...args] as never[]));
  const replaced = {
    setTimeout: timer(real.setTimeout as never, false),
    setInterval: timer(real.setInterval as never, true),
    setImmediate: (act: (...args: unknown[]) => void, ...args: unknown[]) =>
      moment ? new Timer(moment, 0, () => act(...args)) : real.setImmediate(act, ...args),
    clearTimeout: clear(real.clearTimeout as never),
    clearInterval: clear(real.clearInterval as never),
  };
  Object.assign(globalThis, replaced);
  Date.now = () => moment?.clock.now ?? realNow.date();
  performance.now = () => moment?.clock.now ?? realNow.performance();
  Math.random = () => moment?.acting.random(moment.clock.now) ?? real.random();
  AbortSignal.timeout = (ms) => {
    if (!moment) return realNow.timeout.call(AbortSignal, ms);
    const controller = new AbortController();
    new Timer(moment, ms, () => controller.abort(new DOMException('The operation timed out', 'TimeoutError')));
    return controller.signal;
  };
  promises.setTimeout = ((ms?: number, value?: unknown, options: { signal?: AbortSignal } = {}) =>
    moment ? delay(moment, ms ?? 0, value, options.signal) : realDelay(ms, value, options)) as typeof realDelay;
  syncBuiltinESMExports();
}

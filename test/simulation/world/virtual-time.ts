import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';
import { idSource } from '../../../src/base/checks/ids.ts';
import { pulse } from '../../../src/worker/process/heartbeat.ts';
import type { Acting, Scheduled, Timed } from './acting.ts';

/** The event that is happening: who acts, in which of its lives, and on which clock. */
interface Moment {
  clock: Timed;
  acting: Acting;
  life: number;
}

const real = {
  setTimeout,
  setInterval,
  setImmediate,
  clearTimeout,
  clearInterval,
  clearImmediate,
  random: Math.random,
  cpuUsage: process.cpuUsage.bind(process),
  aliveMs: pulse.aliveMs,
  date: Date.now,
  performance: performance.now.bind(performance),
  timeout: AbortSignal.timeout,
  delay: promises.setTimeout,
  immediate: promises.setImmediate,
  Date,
  uuid: idSource.uuid,
};
let moment: Moment | undefined;
let installed = false;

/** Who acts in the event that is happening; undefined: nobody. */
export const acting = (): Acting | undefined => moment?.acting;

/** Whether who acts has crashed in this event: what is left of it has no effect. */
export const hasCrashed = (): boolean => moment?.life !== moment?.acting.life;

/**
 * Resolves when everything has happened that needs no time: all promises. Nothing else of this process runs before, which
 * would see virtual time, too.
 */
export const quiescence = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** Lets the rest of this process continue, outside of any event. */
export const breathe = (): Promise<void> => new Promise((resolve) => real.setImmediate(resolve));

/**
 * What runs between this call and the next sees the clock of this process and the chances of its seed: timers, the time,
 * and random numbers. Undefined: the real ones. Events in which nobody acts, such as a statement in the database, see the
 * real ones.
 */
export function enter(next: Moment | undefined): void {
  if (!installed) install();
  moment = next;
}

/** Longer timers fire at once in Node, too. */
const longestMs = 2 ** 31 - 1;

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

  unref = (): this => this;

  clear(): void {
    if (this.#scheduled) this.#scheduled.cancelled = true;
    this.#scheduled = undefined;
  }

  #start(): void {
    const { clock, acting, life } = this.of;
    const ms = this.ms >= 1 && this.ms <= longestMs ? Math.ceil(this.ms) : 1;
    const fire = () => {
      this.#scheduled = undefined;
      if (this.repeats) this.#start();
      this.act();
    };
    this.#scheduled = Object.assign(clock.in(ms, acting, fire, life), { timer: true });
  }
}

const clear = (of: (timer: never) => void) => (timer: unknown) =>
  timer instanceof Timer ? timer.clear() : of(timer as never);

/** As `setTimeout` of `node:timers/promises`. */
function delay<T>(of: Moment, ms: number, value: T, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      timer.clear();
      const error = new Error('The operation was aborted', { cause: signal?.reason });
      reject(Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' }));
    };
    const timer = new Timer(of, ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve(value);
    });
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Replaces what simulated processes take time, chance and ids from. Outside of an event, everything stays real. */
function install(): void {
  installed = true;
  const timer =
    (make: (...args: never[]) => unknown, repeats: boolean) =>
    (act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      moment ? new Timer(moment, ms, () => act(...args), repeats) : make(...([act, ms, ...args] as never[]));
  Object.assign(globalThis, {
    setTimeout: timer(real.setTimeout as never, false),
    setInterval: timer(real.setInterval as never, true),
    setImmediate: (act: (...args: unknown[]) => void, ...args: unknown[]) =>
      moment ? new Timer(moment, 0, () => act(...args)) : real.setImmediate(act, ...args),
    clearTimeout: clear(real.clearTimeout as never),
    clearInterval: clear(real.clearInterval as never),
    clearImmediate: clear(real.clearImmediate as never),
  });
  globalThis.Date = new Proxy(real.Date, {
    construct: (target, args, made) =>
      Reflect.construct(target, args.length === 0 ? [Date.now()] : args, made) as object,
  });
  // a process that computes uses the processor
  pulse.aliveMs = () => (moment ? 0 : real.aliveMs());
  idSource.uuid = () => moment?.acting.uuid() ?? real.uuid();
  Date.now = () => moment?.clock.now ?? real.date();
  performance.now = () => moment?.clock.now ?? real.performance();
  process.cpuUsage = Object.assign(
    (before?: NodeJS.CpuUsage) =>
      moment ? { user: (moment.acting.computedMs ?? 0) * 1_000, system: 0 } : real.cpuUsage(before),
    process.cpuUsage,
  );
  Math.random = () => moment?.acting.random() ?? real.random();
  AbortSignal.timeout = (ms) => {
    if (!moment) return real.timeout.call(AbortSignal, ms);
    const controller = new AbortController();
    new Timer(moment, ms, () => controller.abort(new DOMException('The operation timed out', 'TimeoutError')));
    return controller.signal;
  };
  promises.setTimeout = ((ms?: number, value?: unknown, options: { signal?: AbortSignal } = {}) =>
    moment ? delay(moment, ms ?? 0, value, options.signal) : real.delay(ms, value, options)) as typeof real.delay;
  promises.setImmediate = ((value?: unknown, options: { signal?: AbortSignal } = {}) =>
    moment ? delay(moment, 0, value, options.signal) : real.immediate(value, options)) as typeof real.immediate;
  syncBuiltinESMExports();
}

import { advanceMonitor, type MonitorCursor, type TakenMonitor } from '../../store/monitor/take-monitors.ts';
import type { MonitorDependencies } from './dependencies.ts';
import { every, type Timer } from '../../common/timer.ts';

/** After this, another worker continues with a monitor that a dead one had taken. */
export const holdMs = 30_000;

/** A monitor that this worker has, renewed until it is given back. */
export class HeldMonitor {
  readonly #lost = new AbortController();
  readonly #timer: Pick<Timer, 'cancel'>;
  #renewal: Promise<void> = Promise.resolve();
  /** Aborted when the worker stops, or another one has the monitor. */
  readonly signal: AbortSignal;

  constructor(
    private readonly deps: Pick<MonitorDependencies, 'db' | 'onError' | 'sweepMs'>,
    private readonly monitor: TakenMonitor,
    stop: AbortSignal,
  ) {
    this.signal = AbortSignal.any([stop, this.#lost.signal]);
    this.#timer = every(holdMs / 3, () => {
      this.#renewal = this.advance(null).catch(deps.onError);
    });
  }

  /** Notes how far it is read. */
  async advance(cursor: MonitorCursor | null): Promise<void> {
    if (!(await advanceMonitor(this.deps.db, this.monitor, cursor, holdMs))) this.#lost.abort();
  }

  /** Lets the next worker have it, once it is due again. */
  async giveBack(): Promise<void> {
    this.#timer.cancel();
    await this.#renewal;
    const { db, sweepMs, onError } = this.deps;
    if (!this.#lost.signal.aborted) await advanceMonitor(db, this.monitor, null, sweepMs).catch(onError);
  }
}

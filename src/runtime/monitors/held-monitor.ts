import { advanceMonitor, type MonitorCursor, type TakenMonitor } from '../../store/monitor/take-monitors.ts';
import type { MonitorDependencies } from './dependencies.ts';

/** After this, another worker reads on for a monitor that a dead one had taken. */
export const holdMs = 30_000;

/** A monitor that this worker has, renewed until it is given back. */
export class HeldMonitor {
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Aborted when the worker stops, or another one has the monitor. */
  readonly signal: AbortSignal;

  constructor(
    private readonly deps: Pick<MonitorDependencies, 'db' | 'onError'>,
    private readonly monitor: TakenMonitor,
    stop: AbortSignal,
  ) {
    this.signal = AbortSignal.any([stop, this.#lost.signal]);
    this.#timer = setInterval(() => void this.advance(null).catch(deps.onError), holdMs / 3);
  }

  /** Notes how far it is read. */
  async advance(cursor: MonitorCursor | null): Promise<void> {
    if (!(await advanceMonitor(this.deps.db, this.monitor, cursor, holdMs))) this.#lost.abort();
  }

  async giveBack(): Promise<void> {
    clearInterval(this.#timer);
    if (!this.#lost.signal.aborted) await advanceMonitor(this.deps.db, this.monitor, null, 0).catch(this.deps.onError);
  }
}

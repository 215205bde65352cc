import type { MonitorDefinition } from '../definition/definition.ts';
import type { MonitorRow } from '../store/monitors.ts';
import type { RunScore } from '../store/run-scores.ts';
import type { ListPage } from '../../../database/store/page.ts';

/** A monitor with its state. */
export type ListedMonitor = MonitorRow;

export interface MonitorOwner {
  /** The tenant of the monitor; default: the tenant of the library, else `default`. */
  tenant?: string;
  /** Who changes it, for the audit; default `operator`. */
  by?: string;
}

export interface ScoresQuery extends Pick<MonitorOwner, 'tenant'> {
  /** `nextAfter` of the page before. */
  after?: string;
  /** From 1 to 1,000; default 50. */
  limit?: number;
  /** Only runs with a lower score. */
  below?: number;
}

export interface Monitors {
  /**
   * Sets or changes a monitor: workers score a share of the runs that end from now on. Setting it to what it is changes
   * nothing. A change keeps its scores, closes its alert without an event and restarts the count of the alert.
   *
   * @throws LanefoldError `invalid_id`; `invalid_input`, `details.field` names the field
   *
   * @example
   * await lanefold.monitors.set('short-answers', { agents: ['support'], sample: 0.2, scorers: ['short'], alert: { below: 0.8 } });
   */
  set(name: string, definition: MonitorDefinition, on?: MonitorOwner): Promise<ListedMonitor>;
  /** @throws LanefoldError `monitor_not_found` */
  get(name: string, on?: Pick<MonitorOwner, 'tenant'>): Promise<ListedMonitor>;
  /** Sorted by tenant and name. The library of one tenant lists only that tenant's monitors. */
  list(): Promise<ListedMonitor[]>;
  /** Removes a monitor with its scores. @throws LanefoldError `monitor_not_found` */
  remove(name: string, on?: MonitorOwner): Promise<void>;
  /** The scores that it gave to runs, the newest first. @throws LanefoldError `monitor_not_found`, `invalid_input` */
  scores(name: string, query?: ScoresQuery): Promise<ListPage<RunScore>>;
}

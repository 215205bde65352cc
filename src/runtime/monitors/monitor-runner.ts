import { Looks } from '../../common/looks.ts';
import type { MonitorDependencies } from './dependencies.ts';
import { runMonitors } from './run-monitors.ts';

/** Scores runs that have ended, together with the other workers. Without monitors it costs one small query per sweep. */
export class MonitorRunner {
  readonly #looks: Looks;
  readonly #stop = new AbortController();

  constructor(deps: MonitorDependencies) {
    this.#looks = new Looks(() => runMonitors(deps, this.#stop.signal), deps.onError);
  }

  look(): Promise<void> {
    return this.#looks.look();
  }

  /** Stops scoring: other workers score what is left. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#looks.close();
  }
}

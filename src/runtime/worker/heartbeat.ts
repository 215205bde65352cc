import { hostname } from 'node:os';
import { packageVersion } from '../../common/package-root.ts';
import type { Database } from '../../postgres/pool.ts';
import type { Capabilities } from '../../store/run/find-passed-on-queues.ts';
import { reportWorker, type WorkerReport } from '../../store/worker/report-worker.ts';

/** What of a worker changes while it runs. */
type Now = Pick<WorkerReport, 'runsHeld' | 'draining'>;

/**
 * Shows that a worker is alive. Its heartbeats ride on the renewals of its leases: on every second one, each two thirds of a
 * lease. A worker that misses three of them, two leases long, counts as dead.
 */
export class Heartbeat {
  readonly #facts: Omit<WorkerReport, keyof Now | 'stopped'>;
  #sentAt = -Infinity;

  constructor(
    worker: Capabilities & { id: string; queue: string; concurrency: number },
    readonly leaseMs: number,
    readonly now: () => Now,
  ) {
    this.#facts = {
      ...worker,
      ...{ host: hostname(), pid: process.pid, version: packageVersion() },
      deadAfterMs: 2 * leaseMs,
    };
  }

  /** The heartbeat for the next renewal, if one is due. */
  due(): WorkerReport | undefined {
    return performance.now() - this.#sentAt < this.leaseMs / 2 ? undefined : this.#report();
  }

  /** The renewal with a heartbeat was answered. */
  sent(): void {
    this.#sentAt = performance.now();
  }

  /** At once: at the start, when the worker stops taking runs, and when it has `stopped`. */
  async send(db: Database, { stopped = false } = {}): Promise<void> {
    await reportWorker(db, { ...this.#report(), stopped });
    this.sent();
  }

  #report(): WorkerReport {
    return { ...this.#facts, ...this.now(), stopped: false };
  }
}

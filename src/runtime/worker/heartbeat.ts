import { hostname } from 'node:os';
import { packageVersion } from '../../common/package-root.ts';
import type { Database } from '../../postgres/pool.ts';
import type { Capabilities } from '../../store/worker/capabilities.ts';
import { reportWorker, type WorkerReport } from '../../store/worker/report-worker.ts';

/** The fields of a report that change while the worker runs. */
type Now = Pick<WorkerReport, 'runsHeld' | 'draining'>;

/**
 * Shows that a worker is alive. Its heartbeats ride on every second lease renewal, so one is sent every two thirds of a
 * lease. A worker that misses three heartbeats, which takes two leases, counts as dead.
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

  /** Call when a renewal that carried a heartbeat was answered. */
  sent(): void {
    this.#sentAt = performance.now();
  }

  /** Sends a heartbeat at once: at the start, when the worker stops taking runs, and when it has `stopped`. */
  async send(db: Database, { stopped = false } = {}): Promise<void> {
    await reportWorker(db, { ...this.#report(), stopped });
    this.sent();
  }

  #report(): WorkerReport {
    return { ...this.#facts, ...this.now(), stopped: false };
  }
}

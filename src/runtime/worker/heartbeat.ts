import { hostname } from 'node:os';
import { packageVersion } from '../../common/package-root.ts';
import type { Database } from '../../postgres/pool.ts';
import type { Capabilities } from '../../store/worker/capabilities.ts';
import { reportWorker, type WorkerReport } from '../../store/worker/report-worker.ts';
import { Stalls } from './stalls.ts';

/** The fields of a report that change while the worker runs. */
type Now = Pick<WorkerReport, 'runsHeld' | 'draining'>;

/**
 * Shows that a worker is alive. Its heartbeats ride on every second lease renewal, so one is sent every two thirds of a
 * lease. A worker that misses three heartbeats, which takes two leases, counts as dead.
 */
export class Heartbeat {
  readonly #facts: Omit<WorkerReport, keyof Now | 'stopped' | 'stalls'>;
  readonly #stalls: Stalls;
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
    this.#stalls = new Stalls(leaseMs);
  }

  /** Notes whether the event loop stood still: call at least twice per lease. */
  look(): void {
    this.#stalls.look();
  }

  /** The heartbeat for the next renewal, if one is due. */
  due(): WorkerReport | undefined {
    return performance.now() - this.#sentAt < this.leaseMs / 2 ? undefined : this.#report();
  }

  /** Call when a renewal that carried a heartbeat was answered. */
  sent({ stalls }: WorkerReport): void {
    this.#sentAt = performance.now();
    this.#stalls.told(stalls.length);
  }

  /** Sends a heartbeat if the database does not know yet that this worker stood still. */
  async tellStalls(db: Database): Promise<void> {
    this.look();
    if (this.#stalls.untold.length > 0) await this.send(db);
  }

  /** Sends a heartbeat at once: at the start, when the worker stops taking runs, and when it has `stopped`. */
  async send(db: Database, { stopped = false } = {}): Promise<void> {
    const report = { ...this.#report(), stopped };
    await reportWorker(db, report);
    this.sent(report);
  }

  #report(): WorkerReport {
    return { ...this.#facts, ...this.now(), stopped: false, stalls: this.#stalls.untold };
  }
}

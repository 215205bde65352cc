import type { Database } from '../../database/postgres/pool.ts';
import { LanefoldError } from '../../base/errors.ts';
import { pseudonym } from '../../base/checks/ids.ts';
import { renewLeases, type OnLeaseAnswer } from '../../database/store/run/renew-leases.ts';
import type { WorkerPart } from '../part.ts';
import { CancelRequested, type HeldRun } from '../run/held-run.ts';
import type { Heartbeat } from './heartbeat.ts';
import { every, type Timer } from '../../base/common/timer.ts';

/** A renewal that times out leaves time for another one, on a new connection, before the lease expires. */
export const renewalTimeoutMs = (leaseMs: number): number => Math.min(leaseMs / 3, 10_000);

/**
 * Renews all leases of a worker every third of a lease, in one statement unless the database is distributed. The
 * answers report lost leases and cancels. A renewal that cannot reach the database is not an error: each run keeps its
 * deadline, and starts nothing past it.
 */
export class LeaseKeeper implements Pick<WorkerPart, 'channels'> {
  readonly channels = { lanefold_cancel: (payload: string | undefined) => void this.cancelNotified(payload) };
  /** The held runs, with the ids of their jobs. */
  readonly #runs = new Map<HeldRun, string>();
  readonly #claims = new Map<string, HeldRun>();
  readonly #timer: Pick<Timer, 'cancel'>;
  /** Nodes of a distributed database that have yet to answer a renewal. */
  readonly #unanswered = new Set<string>();
  #renewing: Promise<boolean> | undefined;
  #answeredAt = performance.now();
  #closed: Promise<void> | undefined;

  constructor(
    /** Used by this keeper alone: commits that wait for a locked thread must not hold up the leases of other runs. */
    readonly own: Database,
    readonly shared: Database,
    readonly leaseMs: number,
    /** Sent with the renewals. */
    readonly heartbeat: Heartbeat,
  ) {
    const onTime = () => {
      heartbeat.look();
      void this.renew();
    };
    this.#timer = every(leaseMs / 3, onTime, { ref: false });
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Whether the database has answered no renewal for the length of a lease. */
  get late(): boolean {
    return performance.now() - this.#answeredAt > this.leaseMs;
  }

  hold(run: HeldRun, jobId: string): void {
    this.#runs.set(run, jobId);
    this.#claims.set(jobId, run);
  }

  drop(run: HeldRun): void {
    const jobId = this.#runs.get(run);
    this.#runs.delete(run);
    // keep a later claim of the same job
    if (jobId !== undefined && this.#claims.get(jobId) === run) this.#claims.delete(jobId);
  }

  /** The run of a job, from its claim on. */
  claimOf(jobId: string): HeldRun | undefined {
    return this.#claims.get(jobId);
  }

  /** Aborts every held run. */
  loseAll(reason: () => unknown): void {
    for (const run of this.#runs.keys()) run.lose(reason());
  }

  /**
   * Renews every lease, one renewal at a time, so that they do not pile up on a slow database. Queries the database
   * even without any lease, to learn whether it answers.
   *
   * @returns whether the database answered
   */
  renew(): Promise<boolean> {
    this.#renewing ??= this.#renew(this.own, [...this.#runs.keys()]).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  /**
   * Handles a cancel request for the run with this pseudonym: asks about that run alone, without waiting for a renewal
   * in progress. Without a payload, notifications may have been missed.
   */
  async cancelNotified(payload: string | undefined): Promise<void> {
    if (payload === undefined) return void (await this.renew());
    const named = [...this.#runs.keys()].filter((run) => pseudonym(run.threadId, run.runId) === payload);
    if (named.length > 0) await this.#renew(this.shared, named);
  }

  async #renew(db: Database, runs: HeldRun[]): Promise<boolean> {
    const held = runs.filter((run) => run.lease > 0);
    const onAnswer: OnLeaseAnswer<HeldRun> = (run, { lost, cancelRequested, renewed }, askedAt) => {
      if (db === this.own) this.#answeredAt = performance.now();
      if (renewed) {
        run.telemetry.leaseRenewed(run.leaseAgeMs);
        run.renewed(askedAt);
      }
      // a run that this worker has just finished also has no lease left, but was not lost
      if (!this.#runs.has(run)) return;
      if (lost) run.lose(leaseLost(run));
      else if (cancelRequested) run.lose(new CancelRequested());
    };
    const report = db === this.own ? this.heartbeat.due() : undefined;
    try {
      await renewLeases(db, held, this.leaseMs, onAnswer, report, db === this.own ? this.#unanswered : undefined);
    } catch {
      return false;
    }
    if (report) this.heartbeat.sent(report);
    if (db === this.own) this.#answeredAt = performance.now();
    return true;
  }

  stop(): Promise<void> {
    this.#timer.cancel();
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#renewing;
    await this.heartbeat.send(this.own, { stopped: true }).catch(() => {});
    await this.own.close();
  }
}

const leaseLost = (run: HeldRun): LanefoldError =>
  new LanefoldError('lease_lost', `Run ${run.runId} was taken by another worker, or it has ended.`, {
    hint: 'Nothing to do: this worker drops the run.',
  });

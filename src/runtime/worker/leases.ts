import type { Database } from '../../postgres/pool.ts';
import { LanefoldError } from '../../errors.ts';
import { pseudonym } from '../../checks/ids.ts';
import { renewLeases, type OnLeaseAnswer } from '../../store/run/renew-leases.ts';
import { CancelRequested, type HeldRun } from '../run/held-run.ts';
import type { Heartbeat } from './heartbeat.ts';

/** An abandoned renewal leaves time for the next one, on a new connection, before the lease ends. */
export const renewalTimeoutMs = (leaseMs: number): number => Math.min(leaseMs / 3, 10_000);

/**
 * Renews all leases of a worker every third of a lease, in one statement where the database is not distributed; the answers
 * tell of lost leases and cancels. A renewal that cannot reach the database is not an error: the deadline of each run stands, and nothing starts past it.
 */
export class LeaseKeeper {
  /** With the ids of their jobs. */
  readonly #runs = new Map<HeldRun, string>();
  readonly #claims = new Map<string, HeldRun>();
  readonly #timer: NodeJS.Timeout;
  #renewing: Promise<boolean> | undefined;
  #answeredAt = performance.now();
  #closed: Promise<void> | undefined;

  constructor(
    /** Of this keeper alone: commits that wait for a locked thread must not hold up the leases of other runs. */
    readonly own: Database,
    readonly shared: Database,
    readonly leaseMs: number,
    /** Rides on the renewals. */
    readonly heartbeat: Heartbeat,
  ) {
    this.#timer = setInterval(() => void this.renew(), leaseMs / 3);
    this.#timer.unref();
  }

  get size(): number {
    return this.#runs.size;
  }

  /** The database has answered no renewal for as long as a lease lasts. */
  get late(): boolean {
    return performance.now() - this.#answeredAt > this.leaseMs;
  }

  hold(run: HeldRun, jobId: string): void {
    this.#runs.set(run, jobId);
    this.#claims.set(jobId, run);
  }

  release(run: HeldRun): void {
    const jobId = this.#runs.get(run);
    this.#runs.delete(run);
    // a later claim for the same job stays
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
   * Renews every lease, one renewal at a time: a slow database must not pile them up. Asks even if there is none, so that
   * it is known whether the database answers.
   *
   * @returns whether the database answered
   */
  renew(): Promise<boolean> {
    this.#renewing ??= this.#renew(this.own, [...this.#runs.keys()]).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  /**
   * A cancel was requested of the run with this pseudonym. Asks about that run alone, and not behind a renewal that is under
   * way. Without a payload, notifications may have been missed.
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
      // a run this worker has just finished is no longer running, and was not lost
      if (!this.#runs.has(run)) return;
      if (lost) run.lose(leaseLost(run));
      else if (cancelRequested) run.lose(new CancelRequested());
    };
    const report = db === this.own ? this.heartbeat.due() : undefined;
    try {
      await renewLeases(db, held, this.leaseMs, onAnswer, report);
    } catch {
      return false;
    }
    if (report) this.heartbeat.sent();
    if (db === this.own) this.#answeredAt = performance.now();
    return true;
  }

  stop(): Promise<void> {
    clearInterval(this.#timer);
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

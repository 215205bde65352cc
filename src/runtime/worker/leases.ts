import type { Database } from '../../postgres/pool.ts';
import { LanefoldError } from '../../errors.ts';
import { CancelRequested, type HeldRun } from '../run/held-run.ts';

interface Notice {
  thread_id: string;
  run_id: string;
  lost: boolean;
  cancel_requested: boolean;
  renewed: boolean;
}

/**
 * Renews all leases of a worker in one statement, every third of a lease, and learns there of lost ones and of cancels.
 * A renewal that cannot reach the database is not an error: the deadline of each run stands, and nothing starts past it.
 */
export class LeaseKeeper {
  readonly #runs = new Set<HeldRun>();
  readonly #timer: NodeJS.Timeout;
  #renewing: Promise<void> | undefined;

  constructor(
    readonly db: Database,
    readonly leaseMs: number,
  ) {
    this.#timer = setInterval(() => void this.renew(), leaseMs / 3);
    this.#timer.unref();
  }

  get size(): number {
    return this.#runs.size;
  }

  hold(run: HeldRun): void {
    this.#runs.add(run);
  }

  release(run: HeldRun): void {
    this.#runs.delete(run);
  }

  /** Aborts what every held run is doing. */
  loseAll(reason: () => unknown): void {
    for (const run of this.#runs) run.lose(reason());
  }

  /** One renewal at a time: a slow database must not pile them up. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renewAll().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renewAll(): Promise<void> {
    const held = [...this.#runs].filter((run) => run.lease > 0);
    if (held.length === 0) return;
    const askedAt = performance.now();
    const keys = held.map((run) => ({ thread_id: run.threadId, run_id: run.runId, lease: run.lease }));
    let notices: Notice[];
    try {
      notices = await this.db.query<Notice>(
        'renew_leases',
        `select h.thread_id, h.run_id, r.* from jsonb_to_recordset($1) as h (thread_id text, run_id text, lease bigint)
         cross join lateral lanefold.renew_lease(h.thread_id, h.run_id, h.lease, $2) r`,
        [JSON.stringify(keys), this.leaseMs],
      );
    } catch {
      return;
    }
    const told = new Map(notices.map((notice) => [`${notice.thread_id} ${notice.run_id}`, notice]));
    for (const run of held) {
      const notice = told.get(`${run.threadId} ${run.runId}`);
      if (!notice || notice.renewed) run.renewed(askedAt);
      // a run this worker has just finished is no longer running, and was not lost
      if (!notice || !this.#runs.has(run)) continue;
      if (notice.lost) run.lose(leaseLost(run));
      else if (notice.cancel_requested) run.lose(new CancelRequested());
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const leaseLost = (run: HeldRun): LanefoldError =>
  new LanefoldError('lease_lost', `Another worker has taken run ${run.runId}, or it has ended.`, {
    hint: 'Nothing to do: this worker drops the run.',
  });

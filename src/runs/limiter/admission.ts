import { isOfRuns, mostOf } from '../../agent/limits/limit.ts';
import { placeKey, valueOf } from '../../agent/limits/dimensions.ts';
import type { Counting } from '../../agent/models/counting.ts';
import type { Database } from '../../database/postgres/pool.ts';
import type { RunQueue } from '../queue/queue.ts';
import { awaitLimit } from '../../database/store/limit/limited-run.ts';
import type { QueuedRun } from '../../database/store/run/queued-run.ts';
import {
  priceAt,
  sharesOf,
  takeOf,
  type CallTokens,
  dimensionsOf,
  waitingJob,
  type LimitedRun,
} from './limited-run.ts';
import type { LimitGate, Placed } from './gate.ts';
import { tooSmall, maxDelayMs, limitedBy } from './refusals.ts';
import { checkBudget } from './run-budget.ts';
import { settleRun } from './run-budget.ts';

/** A run that is about to be accepted. Without a tenant it is not known yet whose it will be. */
export type NewLimitedRun = Omit<LimitedRun, 'tenant' | 'createdAt' | 'priority' | 'job'> & {
  tenant?: string | undefined;
  /** What it needs of a worker beside its agent. */
  version?: string | undefined;
  strategy?: string | undefined;
};

/** The slots that a run needs: none, free ones, or such that other runs wait for already. */
export type Slots = 'none' | 'free' | 'taken';

/**
 * Lets runs take their slots when they are accepted. Those that have to wait do so in line and not in the queue, where
 * ten thousand runs of one customer would be ahead of a run of another.
 */
export class Admission {
  constructor(
    private readonly queue: Pick<RunQueue, 'queueOf' | 'prefix'>,
    private readonly gate: LimitGate,
    private readonly counting: Pick<Counting, 'priceOf'>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /**
   * Refuses a run whose first call no limit would ever let pass, before anything is written. Limits that this process
   * does not know yet refuse the call instead.
   *
   * @param maxCost the run's own budget, in US dollars
   * @throws LanefoldError `limit_too_small`, `price_unknown`
   */
  async check(run: NewLimitedRun, tokens: () => CallTokens, maxCost?: number): Promise<void> {
    const { model } = run;
    const price = priceAt(this.counting, this.gate.now());
    if (maxCost !== undefined) await checkBudget(maxCost, model, tokens(), price);
    await this.gate.read().catch(this.onError);
    const dimensions = dimensionsOf({ ...run, tenant: tenantOf(run) }, model);
    const placed = this.gate.places(tenantOf(run), dimensions).filter(({ limit }) => !isOfRuns(limit));
    if (placed.length === 0) return;
    const take = await takeOf(placed, model, tokens(), price);
    for (const [i, { limit, place }] of placed.entries()) {
      const most = mostOf(
        limit,
        valueOf(placeKey(place)),
        limit.shareBy === null ? undefined : dimensions[limit.shareBy],
      );
      if (limit.onExhausted !== 'notice' && take[i]![1] > most) throw tooSmall(place, most, take[i]![1]);
    }
  }

  /** Whether a run takes slots before it starts, as far as this process knows. */
  async expect(run: NewLimitedRun): Promise<Slots> {
    await this.gate.read().catch(this.onError);
    const slots = this.#slots({ ...run, tenant: tenantOf(run) });
    if (slots.length === 0) return 'none';
    return slots.some(({ place }) => this.gate.isFull(place)) ? 'taken' : 'free';
  }

  /**
   * Takes the slots of a queued run that has no job yet. Returns the job to add: delayed if the run has to wait.
   *
   * @param db connections that see the run
   */
  async admit(db: Database, run: NewLimitedRun & { tenant: string }, job: QueuedRun): Promise<QueuedRun> {
    try {
      const waits = await this.#ask(db, run, job);
      return waits ? { ...job, delay_ms: maxDelayMs } : job;
    } catch (error) {
      // the worker that claims the run asks again
      this.onError(error);
      return job;
    }
  }

  /**
   * A run has ended while no worker held it: what it took returns, and what it used is counted.
   *
   * @param db connections that see the run
   */
  async release(db: Database, run: { threadId: string; runId: string }): Promise<void> {
    try {
      await this.gate.read();
      await settleRun({ db, gate: this.gate, counting: this.counting }, run);
    } catch (error) {
      // the sweep settles it
      this.onError(error);
    }
  }

  async #ask(db: Database, run: NewLimitedRun & { tenant: string }, job: QueuedRun): Promise<boolean> {
    // limits that keep changing while it asks are asked again by the worker
    for (let attempt = 0; attempt < 3; attempt++) {
      const slots = this.#slots(run);
      if (slots.length === 0) return false;
      const answer = await this.gate.use({
        thread_id: run.threadId,
        run_id: run.runId,
        version: this.gate.version,
        take: slots.map(({ place }) => [place, 1] as const),
        shares: sharesOf(slots, dimensionsOf(run, run.model)),
        job: waitingJob({ name: this.queue.queueOf(job).name, prefix: this.queue.prefix }, job, run),
        priority: job.priority ?? 0,
      });
      if (answer.stale !== undefined) continue;
      // a limit that ends runs ends this one at its first call, where its reason is recorded
      if (answer.refused === undefined || answer.ends) return false;
      return awaitLimit(db, job, limitedBy(answer.refused, answer.delay_ms, db.settings.clock));
    }
    return false;
  }

  #slots = (run: NewLimitedRun & { tenant: string }): Placed[] =>
    this.gate.places(run.tenant, dimensionsOf(run, run.model)).filter(({ limit }) => isOfRuns(limit));
}

/** A new thread of an operator has this tenant; on another one, the worker that claims the run asks again. */
const tenantOf = ({ tenant = 'default' }: NewLimitedRun): string => tenant;

import { placesOf, type Dimensions } from '../../agent/limits/dimensions.ts';
import type { Limit } from '../../agent/limits/limit.ts';
import type { Database } from '../../database/postgres/pool.ts';
import type { RunQueue } from '../queue/queue.ts';
import {
  findAwaitedPlaces,
  readCurrentLimits,
  useLimits,
  type CurrentLimits,
  type Amounts,
  type LimitAnswer,
  type LimitCall,
  type ReadyRun,
} from '../../database/store/limit/use-limits.ts';
import { after, type Timer } from '../../base/common/timer.ts';

/** A bucket that a run or a call uses. */
export interface Placed {
  limit: Limit;
  place: string;
}

/**
 * The limits as this process knows them. Every call for a run passes here: when an answer names waiting runs that are next,
 * this process resumes them, whichever process queued them. Without limits it costs one small query per sweep.
 */
export class LimitGate {
  #current: CurrentLimits = { version: 0, limits: [] };
  #readAt = -Infinity;
  /** Places that have refused since their last grant. */
  readonly #full = new Set<string>();
  readonly #checks = new Map<string, { at: number; timer: Timer }>();
  #closed = false;
  #resuming = 0;
  #soon: (() => Promise<unknown>)[] = [];
  #soonTimer: Timer | undefined;

  constructor(
    private readonly db: Database,
    private readonly queue: Pick<RunQueue, 'wake' | 'reaches'>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** By the clock of the database. */
  now(): Date {
    return new Date(this.db.settings.clock.now());
  }

  get version(): number {
    return this.#current.version;
  }

  /** The limits that apply to these values of a tenant's run, by place. */
  places(tenant: string, dimensions: Dimensions): Placed[] {
    const { limits } = this.#current;
    return limits.length === 0 ? [] : placesOf(limits, tenant, dimensions);
  }

  /** Whether it is waking runs that are next. */
  get isResuming(): boolean {
    return this.#resuming > 0;
  }

  /** Whether a place refused the last run that asked here. */
  isFull = (place: string): boolean => this.#full.has(place);

  /** Reads the limits, unless they were read a few seconds ago: workers keep them current. */
  async read(): Promise<void> {
    if (performance.now() - this.#readAt > currentForMs) await this.refresh();
  }

  /** Reads the limits again, after which waiting runs may be next. */
  async refresh(): Promise<void> {
    const before = this.#current.version;
    this.#current = await readCurrentLimits(this.db);
    this.#readAt = performance.now();
    if (this.#current.version === before) return;
    this.#full.clear();
    await this.check();
  }

  /** Looks which waiting runs are next. */
  async check(): Promise<void> {
    if (this.#current.version === 0) return;
    const places = await findAwaitedPlaces(this.db);
    if (places.length > 0) await this.use({ check: places });
  }

  /**
   * The same for a call without a caller that waits, such as the end of a run: it is sent with the next one, or soon
   * alone.
   */
  useSoon(call: LimitCall): Promise<LimitAnswer> {
    return new Promise((resolve, reject) => {
      this.#soon.push(() => this.#send(call).then(resolve, reject));
      this.#soonTimer ??= after(soonMs, () => this.#sendSoon());
    });
  }

  use(call: LimitCall): Promise<LimitAnswer> {
    // first, because it may free what this call needs
    void this.#sendSoon();
    return this.#send(call);
  }

  async #send(call: LimitCall): Promise<LimitAnswer> {
    const answer = await useLimits(this.db, call);
    if (answer.stale !== undefined) await this.refresh();
    if (answer.ok) for (const [place] of call.take ?? []) this.#full.delete(place);
    if (answer.refused !== undefined) this.#full.add(answer.refused);
    if (answer.ready) void this.#resume(answer.ready).catch(this.#report);
    for (const [place, delayMs] of Object.entries(answer.look ?? {})) this.#checkIn(place, delayMs);
    return answer;
  }

  /** Returns what a run holds that has ended without settling; `used`: by bucket, if it is known. */
  async settle({ threadId, runId }: { threadId: string; runId: string }, used: Amounts = {}): Promise<void> {
    if (this.version > 0) await this.use({ thread_id: threadId, run_id: runId, end: used });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#sendSoon();
    for (const { timer } of this.#checks.values()) timer.cancel();
  }

  /** What fails because everything is closing is done by other processes, or by the sweep. */
  #report = (error: unknown): void => {
    if (!this.#closed) this.onError(error);
  };

  async #sendSoon(): Promise<void> {
    this.#soonTimer?.cancel();
    this.#soonTimer = undefined;
    await Promise.allSettled(this.#soon.splice(0).map((send) => send()));
  }

  async #resume(ready: readonly ReadyRun[]): Promise<void> {
    // the workers of another fleet resume its runs
    const own = ready.filter(({ job }) => this.queue.reaches(job.queue));
    this.#resuming += 1;
    const resuming = own.map(async ({ place, thread_id, run_id, job }) => {
      const answer = await this.use({ thread_id, run_id, granted: place });
      if (answer.ok || answer.ends || answer.impossible) await this.queue.wake({ thread_id, run_id, ...job });
    });
    const results = await Promise.allSettled(resuming).finally(() => (this.#resuming -= 1));
    for (const result of results) if (result.status === 'rejected') this.#report(result.reason);
  }

  /** Looks which waiting runs are next at a place, once, at the earliest time that an answer has named. */
  #checkIn(place: string, delayMs: number): void {
    const at = performance.now() + delayMs;
    const planned = this.#checks.get(place);
    if (this.#closed || (planned && planned.at <= at)) return;
    planned?.timer.cancel();
    const check = () => {
      this.#checks.delete(place);
      this.use({ check: [place] }).catch(this.#report);
    };
    const timer = after(Math.min(delayMs, maxTimerMs), check, { ref: false });
    this.#checks.set(place, { at, timer });
  }
}

/** The sweep looks as well, so a long wait needs no timer. */
const maxTimerMs = 60_000;

/** How long a call may wait for another one, in ms: a run that waits for what it frees resumes as much later. */
const soonMs = 10;

/** A process without a worker is told of no change. */
const currentForMs = 5_000;

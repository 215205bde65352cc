import type { Backend, NewJob, QueueEnd, RunQueue } from '../../../src/queue/queue.ts';
import { jobId, toJob, type RunJob } from '../../../src/queue/job.ts';
import type { JobPlace } from '../../../src/store/run/find-jobs.ts';
import type { Chances } from './chances.ts';
import type { Acting } from './acting.ts';
import type { Clock } from './clock.ts';

interface Job {
  id: string;
  data: RunJob;
  priority: number;
  /** Place in line: a lower one comes earlier. */
  place: number;
  /** `delayed`: it is not in line yet. `active`: a worker has it, under a lock. */
  state: 'waiting' | 'delayed' | 'active';
  token: string | undefined;
  lockedUntil: number;
  stalled: number;
}

/** Who takes jobs. */
export interface Taker {
  readonly actor: Acting;
  free(): number;
  take(job: RunJob, token: string): void;
}

export const lockMs = 6_000;
/** How often a job may lose its worker. */
const mostStalls = 10;

/**
 * The queue as BullMQ's backends behave: a job is added once under its id, one worker has it under a lock, and a job
 * whose lock has run out is given again. It may lose jobs, bring them late, give them to two workers, and lose
 * everything.
 */
export class Jobs {
  readonly takers = new Set<Taker>();
  #jobs = new Map<string, Job>();
  #places = 0;
  #given = 0;

  constructor(
    readonly backend: Backend,
    private readonly clock: Clock,
    private readonly chances: Chances,
  ) {
    // the check for stalled jobs is costly on PostgreSQL, and rare there
    const everyMs = backend === 'redis' ? 2_000 : 30_000;
    const check = (): void => void clock.in(everyMs, undefined, () => (this.#giveStalledAgain(), check()));
    check();
  }

  add(data: RunJob & Partial<NewJob>, end: QueueEnd): void {
    const id = jobId(data);
    if (this.#jobs.has(id)) return;
    const fault = this.chances.fault<'job lost' | 'job late'>(`add ${id}`, { 'job lost': 0.02, 'job late': 0.02 });
    if (fault === 'job lost') return;
    const no = ++this.#places;
    const job: Job = {
      ...{ id, data: toJob(data), token: undefined, lockedUntil: 0, stalled: 0, state: 'waiting' },
      ...(end === 'front' ? { priority: 0, place: -no } : { priority: data.priority ?? 0, place: no }),
    };
    this.#jobs.set(id, job);
    const delayMs = (data.delay_ms ?? 0) + (fault ? this.chances.of(`late ${id}`).int(1_000, 15_000) : 0);
    if (delayMs > 0) this.#delay(job, delayMs);
    else this.offer();
  }

  /** Gives waiting jobs to workers that have room. */
  offer(): void {
    const idle = [...this.takers].filter((taker) => taker.free() > 0);
    if (idle.length === 0) return;
    const [first] = [...this.#jobs.values()]
      .filter(({ state }) => state === 'waiting')
      .sort((a, b) => a.priority - b.priority || a.place - b.place);
    if (!first) return;
    const token = `${first.id} ${++this.#given}`;
    const random = this.chances.of(`give ${token}`);
    random.pick(idle).take(first.data, token);
    // after a failover, the queue does not know that it has given the job
    if (this.chances.fault(`twice ${token}`, { 'job given twice': 0.01 }))
      random.pick(idle).take(first.data, `${token}b`);
    Object.assign(first, { state: 'active', token, lockedUntil: this.clock.now + lockMs });
    this.offer();
  }

  /** A process is gone, with all that took jobs in it. */
  leave(actor: Acting): void {
    for (const taker of this.takers) if (taker.actor === actor) this.takers.delete(taker);
  }

  renew(id: string, token: string): void {
    const job = this.#held(id, token);
    if (job) job.lockedUntil = this.clock.now + lockMs;
  }

  done(id: string, token: string): void {
    if (this.#held(id, token)) this.#jobs.delete(id);
    this.offer();
  }

  /** Puts a job back, for later. False: its lock is lost. */
  delay(id: string, token: string, ms: number): boolean {
    const job = this.#held(id, token);
    if (job) this.#delay(job, ms);
    return job !== undefined;
  }

  /** Puts a job back at the front. False: its lock is lost. */
  putBack(id: string, token: string): boolean {
    const job = this.#held(id, token);
    if (job) Object.assign(job, { state: 'waiting', token: undefined, priority: 0, place: -++this.#places });
    this.offer();
    return job !== undefined;
  }

  flush(): void {
    this.#jobs.clear();
  }

  placeOf(id: string): JobPlace {
    const job = this.#jobs.get(id);
    if (!job) return 'gone';
    if (job.state === 'active') return job.lockedUntil < this.clock.now ? 'stalled' : 'active';
    return job.stalled > 0 ? 'stalled' : 'waiting';
  }

  #held(id: string, token: string): Job | undefined {
    const job = this.#jobs.get(id);
    return job?.state === 'active' && job.token === token ? job : undefined;
  }

  #delay(job: Job, ms: number): void {
    Object.assign(job, { state: 'delayed', token: undefined });
    this.clock.in(ms, undefined, () => {
      if (job.state === 'delayed') job.state = 'waiting';
      this.offer();
    });
  }

  #giveStalledAgain(): void {
    for (const job of this.#jobs.values()) {
      if (job.state !== 'active' || job.lockedUntil >= this.clock.now) continue;
      if (++job.stalled > mostStalls) this.#jobs.delete(job.id);
      else Object.assign(job, { state: 'waiting', token: undefined, priority: 0, place: -++this.#places });
    }
    this.offer();
  }

  /** The queue as the product uses it. */
  asRunQueue(): RunQueue {
    const queue = {
      name: 'lf-0',
      getJob: async (id: string) => {
        const place = this.placeOf(id);
        return place === 'gone' ? undefined : { processedOn: ['active', 'stalled'].includes(place) ? 1 : undefined };
      },
      getJobState: async (id: string) => this.#jobs.get(id)?.state ?? 'unknown',
    };
    const addAll = async (jobs: readonly NewJob[], end: QueueEnd) => {
      for (const job of end === 'front' ? jobs.toReversed() : jobs) this.add(job, end);
    };
    const own = { backend: this.backend, prefix: 'lf', queues: [queue], queueOf: () => queue, addAll };
    return { ...own, reaches: () => true, clean: async () => {} } as unknown as RunQueue;
  }
}

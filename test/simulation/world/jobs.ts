import {
  type Backend,
  type BullQueue,
  type NewJob,
  type PlacedJob,
  type QueueEnd,
  type RunQueue,
  jobId,
  toJob,
  type RunJob,
} from '../../../src/runs/queue/queue.ts';
import type { JobPlace } from '../../../src/database/store/run/find-jobs.ts';
import type { Chances } from './chances.ts';
import type { Acting } from './acting.ts';
import type { Clock } from './clock.ts';

interface Job {
  /** Its id, with the queue that has it unless that is the fleet's own. */
  name: string;
  data: RunJob;
  priority: number;
  /** Place in line: a lower one comes earlier. */
  place: number;
  /** `delayed`: it is not in line yet. `active`: a worker has it, under a lock. */
  state: 'waiting' | 'delayed' | 'active';
  queue: string;
  token: string | undefined;
  lockedUntil: number;
  stalled: number;
}

/** Who takes the jobs of a queue. */
export interface Taker {
  readonly actor: Acting;
  readonly queue: string;
  free(): number;
  take(job: RunJob, token: string, name: string): void;
}

/** The queue of the fleet; those of agents have names of their own. */
export const ownQueue = 'lf-0';
const queueOf = ({ agent_queue: agentQueue }: Pick<NewJob, 'agent_queue'>): string => agentQueueName(agentQueue);
export const agentQueueName = (agentQueue: string | null | undefined): string =>
  agentQueue ? `lf-agent-${agentQueue}` : ownQueue;
/** The name of a job: two queues may have the same one. */
export const jobName = (id: string, queue: string): string => (queue === ownQueue ? id : `${id} of ${queue}`);

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
  /** How long a job is on its way to the worker that it is given to, in ms. */
  wayMs = (_token: string): number => 3;
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
    const queue = queueOf(data);
    const name = jobName(jobId(data), queue);
    if (this.#jobs.has(name)) return;
    const fault = this.chances.fault<'job lost' | 'job late'>(`add ${name}`, { 'job lost': 0.02, 'job late': 0.02 });
    if (fault === 'job lost') return;
    const no = ++this.#places;
    const job: Job = {
      name,
      queue,
      data: toJob(data),
      token: undefined,
      lockedUntil: 0,
      stalled: 0,
      state: 'waiting',
      ...(end === 'front' ? { priority: 0, place: -no } : { priority: data.priority ?? 0, place: no }),
    };
    this.#jobs.set(name, job);
    const delayMs = (data.delay_ms ?? 0) + (fault ? this.chances.of(`late ${name}`).int(1_000, 15_000) : 0);
    if (delayMs > 0) this.#delay(job, delayMs);
    else this.offer();
  }

  /** Gives waiting jobs to workers that have room. */
  offer(): void {
    const idle = [...this.takers].filter((taker) => taker.free() > 0);
    const queues = new Set(idle.map(({ queue }) => queue));
    if (idle.length === 0) return;
    const [first] = [...this.#jobs.values()]
      .filter(({ state, queue }) => state === 'waiting' && queues.has(queue))
      .sort((a, b) => a.priority - b.priority || a.place - b.place);
    if (!first) return;
    const takers = idle.filter(({ queue }) => queue === first.queue);
    const token = `${first.name} ${++this.#given}`;
    const random = this.chances.of(`give ${token}`);
    random.pick(takers).take(first.data, token, first.name);
    // after a failover, the queue does not know that it has given the job
    if (this.chances.fault(`twice ${token}`, { 'job given twice': 0.01 }))
      random.pick(takers).take(first.data, `${token}b`, first.name);
    Object.assign(first, { state: 'active', token, lockedUntil: this.clock.now + lockMs });
    this.offer();
  }

  /** A process is gone, with all that took jobs in it. */
  leave(actor: Acting): void {
    for (const taker of this.takers) if (taker.actor === actor) this.takers.delete(taker);
  }

  renew(name: string, token: string): void {
    const job = this.#held(name, token);
    if (job) job.lockedUntil = this.clock.now + lockMs;
  }

  done(name: string, token: string): void {
    if (this.#held(name, token)) this.#jobs.delete(name);
    this.offer();
  }

  /** Puts a job back, for later. False: its lock is lost. */
  delay(name: string, token: string, ms: number): boolean {
    const job = this.#held(name, token);
    if (job) this.#delay(job, ms);
    return job !== undefined;
  }

  /** Puts a job back at the front. False: its lock is lost. */
  /** Ends the delay of a job, or adds it. */
  wake(data: RunJob, queue: string): void {
    const job = this.#jobs.get(jobName(jobId(data), queue));
    if (job?.state === 'delayed') job.state = 'waiting';
    if (job) return this.offer();
    const [, agent] = /^lf-agent-(.*)$/.exec(queue) ?? [];
    this.add({ ...data, ...(agent === undefined ? {} : { agent_queue: agent }) }, 'back');
  }

  putBack(name: string, token: string): boolean {
    const job = this.#held(name, token);
    if (job) Object.assign(job, { state: 'waiting', token: undefined, priority: 0, place: -++this.#places });
    this.offer();
    return job !== undefined;
  }

  flush(): void {
    this.#jobs.clear();
  }

  placeOf(name: string): JobPlace {
    const job = this.#jobs.get(name);
    if (!job) return 'gone';
    if (job.state === 'active') return job.lockedUntil < this.clock.now ? 'stalled' : 'active';
    return job.stalled > 0 ? 'stalled' : 'waiting';
  }

  #held(name: string, token: string): Job | undefined {
    const job = this.#jobs.get(name);
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
      if (++job.stalled > mostStalls) this.#jobs.delete(job.name);
      else Object.assign(job, { state: 'waiting', token: undefined, priority: 0, place: -++this.#places });
    }
    this.offer();
  }

  /** The queue as the product uses it. */
  asRunQueue(): RunQueue {
    const named = new Map<string, BullQueue>();
    const open = (name: string) => {
      const queue = named.get(name) ?? this.#asBullQueue(name);
      named.set(name, queue);
      return queue;
    };
    const addAll = async (jobs: readonly NewJob[], end: QueueEnd) => {
      for (const job of end === 'front' ? jobs.toReversed() : jobs) this.add(job, end);
    };
    const own = {
      backend: this.backend,
      prefix: 'lf',
      queues: [open(ownQueue)],
      addAll,
      queueOf: (placed: PlacedJob) => open(queueOf(placed)),
      wake: async ({ queue, ...job }: RunJob & { queue: string }) => this.wake(job, queue),
    };
    return { ...own, reaches: () => true, clean: async () => {}, remove: async () => 0 } as unknown as RunQueue;
  }

  #asBullQueue(queue: string): BullQueue {
    const asked = {
      name: queue,
      getJob: async (id: string) => {
        const place = this.placeOf(jobName(id, queue));
        return place === 'gone' ? undefined : { processedOn: ['active', 'stalled'].includes(place) ? 1 : undefined };
      },
      getJobState: async (id: string) => this.#jobs.get(jobName(id, queue))?.state ?? 'unknown',
    };
    return asked as unknown as BullQueue;
  }
}

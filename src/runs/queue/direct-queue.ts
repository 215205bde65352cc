import { Job } from 'bullmq';
import { within } from '../../base/common/timer.ts';
import { answerTimeoutMs } from './jobs-in-queue.ts';
import {
  jobId,
  toJob,
  type RunJob,
  type RunJobResult,
  type Backend,
  type BullQueue,
  type BullWorker,
} from './queue.ts';

/** The parts of BullMQ's worker that it keeps to itself; `test/dependencies.test.ts` checks them. */
interface Inside {
  /** What the worker fetches and processes; null while it does not run. */
  mainLoopQueue: { numPending(): number; numTotal(): number; add(processing: Promise<unknown>): void } | null;
  /** Set while the worker waits for a job to be added: it has found the queue empty. */
  waiting: unknown;
}

/** How long the answer that a queue in Redis is neither paused nor limited is trusted, and how long it may take, in ms. */
const openForMs = 100;
const patienceMs = 20;

const nothing = () => undefined;

export type BullJob = Job<RunJob, RunJobResult>;

/**
 * Lets the worker of a queue process jobs that it did not fetch, within its concurrency. Only while the queue is empty:
 * otherwise new jobs would overtake those that wait.
 */
export class DirectQueue {
  #reserved = 0;
  #tokens = 0;
  #openUntil = 0;
  #asking: Promise<boolean> | undefined;

  constructor(
    private readonly backend: Backend,
    private readonly queue: BullQueue,
    private readonly worker: BullWorker,
  ) {}

  /** Reserves one of the worker's slots, until `process` or `leave`. */
  async reserve(): Promise<boolean> {
    if (!this.#hasFreeSlot()) return false;
    this.#reserved += 1;
    // on PostgreSQL, the statement that adds the job asks the same
    if (this.backend === 'postgres' || performance.now() < this.#openUntil || (await this.#isOpen())) return true;
    this.#reserved -= 1;
    return false;
  }

  leave(): void {
    this.#reserved -= 1;
  }

  /** A job as if the worker had just taken it. */
  take(run: RunJob): BullJob {
    const job = new Job(this.worker as never, 'run', toJob(run), { attempts: 1 }, jobId(run)) as BullJob;
    job.token = `${this.worker.id}:direct:${this.#tokens++}`;
    job.processedOn = job.timestamp;
    return job;
  }

  /**
   * Has the worker process a job whose run is `running`; settles when both have ended. On PostgreSQL, the job is in the
   * queue already, under its token. On Redis, this adds it and takes the next one, which is this one unless another worker
   * was faster.
   */
  async process(job: BullJob, running: Promise<unknown>): Promise<void> {
    const taken = this.backend === 'postgres' ? job : await this.#addAndTake(job).catch(() => undefined);
    const processing = taken && this.#process(taken, job.token!);
    // if another worker has the job, the run still occupies a slot of this one
    if (taken?.id !== job.id) this.#inside.mainLoopQueue?.add(running.then(nothing, nothing));
    this.leave();
    await Promise.allSettled([running, processing]);
  }

  #process(job: BullJob, token: string): Promise<unknown> {
    const { mainLoopQueue: loop } = this.#inside;
    // A waiting worker has found the queue empty, and takes the next job itself. A loop that has ended takes none.
    const fetchesNext = () => {
      const inside = this.#inside;
      return (
        loop !== null && loop === inside.mainLoopQueue && !inside.waiting && loop.numTotal() <= this.worker.concurrency
      );
    };
    const processing = this.worker.processJob(job, token, fetchesNext);
    loop?.add(processing);
    return processing;
  }

  async #addAndTake({ data, opts, id, token }: BullJob): Promise<BullJob | undefined> {
    await within(answerTimeoutMs, this.queue.add('run', data, { ...opts, jobId: id! }));
    return this.worker.getNextJob(token!, { block: false });
  }

  #hasFreeSlot(): boolean {
    const { mainLoopQueue: loop, waiting } = this.#inside;
    if (!loop || !waiting || this.worker.isPaused() || this.worker.closing) return false;
    // The fetch that waits is pending as well. If a job comes when all slots are taken, the processor returns it.
    return loop.numPending() - 1 + this.#reserved < this.worker.concurrency;
  }

  /** Asks once for all that ask at the same moment. */
  #isOpen(): Promise<boolean> {
    this.#asking ??= within(patienceMs, this.queue.getMeta())
      .then(({ paused, concurrency, max }) => {
        const isOpen = !paused && concurrency === undefined && max === undefined;
        if (isOpen) this.#openUntil = performance.now() + openForMs;
        return isOpen;
      })
      .catch(() => false)
      .finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  get #inside(): Inside {
    return this.worker as unknown as Inside;
  }
}

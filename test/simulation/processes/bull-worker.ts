import { DelayedError, UnrecoverableError, WaitingError } from 'bullmq';
import { isLanefoldError } from '../../../src/base/errors.ts';
import { type RunJob, jobId, type BullWorker, type Processor } from '../../../src/runs/queue/queue.ts';
import { lockMs, type Taker } from '../world/jobs.ts';
import type { Actor } from '../world/network.ts';

/**
 * BullMQ's worker, as far as the product sees it: it takes jobs while it has room, renews their locks, and tells the queue
 * how they ended.
 */
export class SimulatedBullWorker implements Taker {
  /** Names of the jobs that it processes, by their tokens. */
  readonly #active = new Map<string, string>();
  #paused = false;
  #closed = false;
  #idle: (() => void) | undefined;
  readonly #life: number;

  constructor(
    readonly actor: Actor,
    private readonly processor: Processor,
    readonly concurrency: number,
    readonly queue: string,
  ) {
    this.#life = actor.life;
    setInterval(() => {
      for (const [token, name] of this.#active) actor.world.jobs.renew(name, token);
    }, lockMs / 2);
  }

  asBullWorker(): BullWorker {
    return this as unknown as BullWorker;
  }

  free(): number {
    return this.#paused || this.#closed ? 0 : this.concurrency - this.#active.size;
  }

  take(job: RunJob, token: string, name: string): void {
    this.#active.set(token, name);
    const { clock, jobs } = this.actor.world;
    clock.in(jobs.wayMs(token), this.actor, () => void this.#process(job, token, name), this.#life);
  }

  async pause(): Promise<void> {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.actor.world.jobs.offer();
  }

  async waitUntilReady(): Promise<void> {}

  /** Resolves once its jobs have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.actor.world.jobs.takers.delete(this);
    while (this.#active.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  async #process(data: RunJob, token: string, name: string): Promise<void> {
    const { jobs, clock } = this.actor.world;
    const id = jobId(data);
    const job = {
      id,
      data,
      token,
      name: 'run',
      queueName: this.queue,
      opts: {},
      timestamp: clock.now,
      processedOn: clock.now,
      moveToDelayed: async (until: number) => locked(jobs.delay(name, token, until - clock.now)),
      moveToWait: async () => locked(jobs.putBack(name, token)),
    };
    try {
      await this.processor(job as never, token, undefined);
      jobs.done(name, token);
    } catch (error) {
      if (error instanceof DelayedError || error instanceof WaitingError) return;
      jobs.done(name, token);
      // the queue of the product forgets the jobs of an erased thread
      const isExpected = error instanceof UnrecoverableError || error instanceof MissingLock || isErased(error);
      if (!isExpected) this.actor.world.report('unexpected-errors', `${this.actor.name}: ${String(error)}`);
    } finally {
      this.#active.delete(token);
      this.#idle?.();
      jobs.offer();
    }
  }
}

const isErased = (error: unknown): boolean => isLanefoldError(error, 'thread_erased');

/** As BullMQ, if somebody else has the job by now. */
class MissingLock extends Error {}

function locked(moved: boolean): void {
  if (!moved) throw new MissingLock('Missing lock for job');
}

import type { BullWorker, RunJob, RunJobResult, RunQueue } from '../../runs/queue/queue.ts';
import { after, delay } from '../../base/common/timer.ts';
import { Released, type HeldRun } from '../run/held-run.ts';
import type { Job } from 'bullmq';
import type { Telemetry } from '../../runs/telemetry/telemetry.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import type { LeaseKeeper } from './leases.ts';
import type { EndedRun } from './options.ts';

/** Pause before a database that did not answer is checked, in ms: a single lost connection costs the first one. */
const pauseMs = { first: 50, longest: 500 };

/**
 * Decides when a worker fetches jobs. It stops while the database does not answer: every claim would fail at once, and
 * the worker would fetch thousands of jobs per second. BullMQ limits the jobs of each queue; this limits the total of a
 * worker that also takes jobs from the queues of agents.
 */
export class Intake {
  readonly #workers: BullWorker[] = [];
  #limit = 0;
  #busy = 0;
  #entered = 0;
  #fetching = true;
  /** A job came while every slot was taken. */
  #full = false;
  #outage: Promise<void> | undefined;
  #pauseMs = 0;
  #resumedAt = -Infinity;
  #held = false;
  #closed = false;

  /** @param answers whether the database answers */
  constructor(private readonly answers: () => Promise<boolean>) {}

  get paused(): boolean {
    return this.#outage !== undefined;
  }

  /** Whether every slot is taken. */
  get isFull(): boolean {
    return this.#busy >= this.#limit;
  }

  /** Jobs that have a slot now. */
  get busy(): number {
    return this.#busy;
  }

  /** Jobs that have had a slot since the start. */
  get entered(): number {
    return this.#entered;
  }

  get workers(): readonly BullWorker[] {
    return this.#workers;
  }

  /** Adds BullMQ workers, each with its own queue; `slots` is how many more jobs may run at once. */
  open(workers: readonly BullWorker[], slots: number): void {
    this.#workers.push(...workers);
    this.#limit += slots;
    if (!this.#fetching) for (const worker of workers) void worker.pause(true);
    this.#update();
  }

  /** Takes a slot for a job. Returns false if none is free: the job must go back. */
  enter(): boolean {
    if (this.#busy >= this.#limit) {
      this.#full = true;
      this.#update();
      return false;
    }
    this.#busy += 1;
    this.#entered += 1;
    this.#update();
    return true;
  }

  leave(): void {
    this.#busy -= 1;
    this.#full = false;
    this.#update();
  }

  /** Fetches no jobs until `release`. */
  hold(): void {
    this.#held = true;
    this.#update();
  }

  release(): void {
    this.#held = false;
    this.#update();
  }

  /** Pauses. Resolves when the database answers and jobs are fetched again, or the worker stops. */
  interrupt(): Promise<void> {
    this.#outage ??= this.#waitOut().finally(() => {
      this.#outage = undefined;
      this.#update();
    });
    this.#update();
    return this.#outage;
  }

  close(): void {
    this.#closed = true;
    // do not wait for active jobs: a released run must not come back
    for (const worker of this.#workers) void worker.pause(true);
  }

  #update(): void {
    if (this.#closed) return;
    const isOpen = !this.paused && !this.#held && !this.#full;
    const fetching = isOpen && (this.#busy < this.#limit || this.#workers.length < 2);
    if (fetching === this.#fetching) return;
    this.#fetching = fetching;
    // do not wait for active jobs: they may be waiting for the end of the pause
    for (const worker of this.#workers) void (fetching ? worker.resume() : worker.pause(true));
  }

  /** An interruption that comes soon after the last one takes longer: an error that returns at once would return as often. */
  async #waitOut(): Promise<void> {
    if (performance.now() - this.#resumedAt > 2 * this.#pauseMs) this.#pauseMs = 0;
    do {
      this.#pauseMs = Math.min(Math.max(2 * this.#pauseMs, pauseMs.first), pauseMs.longest);
      await delay(this.#pauseMs);
    } while (!this.#closed && !(await this.answers()));
    this.#resumedAt = performance.now();
  }
}

/**
 * Gives the worker to one run alone: a run that shared every worker that crashed is retried like that before it counts as
 * poisoned. Knows the runs of the worker from before their claim until they end.
 */
export class SoloRuns {
  readonly #present = new Set<HeldRun>();
  #alone: HeldRun | undefined;
  #left: (() => void) | undefined;

  constructor(
    private readonly intake: Intake,
    /** How long the others may take to end before they are released for other workers. */
    private readonly patienceMs: number,
  ) {}

  /** Returns false while another run has the worker to itself or waits for that. */
  enter(run: HeldRun): boolean {
    if (this.#alone) return false;
    this.#present.add(run);
    return true;
  }

  /**
   * Stops taking runs and resolves to true once the other runs have left. Resolves to false if another run came first.
   */
  async clear(run: HeldRun): Promise<boolean> {
    if (this.#alone) return false;
    this.#alone = run;
    this.intake.hold();
    const patience = after(this.patienceMs, () => {
      for (const other of this.#present) if (other !== run) other.lose(new Released());
    });
    while (this.#present.size > 1) await new Promise<void>((resolve) => (this.#left = resolve));
    patience.cancel();
    return true;
  }

  /** Ends the run's exclusive use of the worker. */
  reopen(run: HeldRun): void {
    if (this.#alone !== run) return;
    this.#alone = undefined;
    this.intake.release();
  }

  leave(run: HeldRun): void {
    this.#present.delete(run);
    this.reopen(run);
    this.#left?.();
  }
}

/** A job that BullMQ has given to this worker, and its lock of the job. */
export interface TakenJob {
  job: Job<RunJob, RunJobResult>;
  token: string | undefined;
}

/** A run that was started before this worker processes its job. */
export interface StartedRun {
  running: Promise<RunJobResult>;
  onProcess(taken: TakenJob): void;
}

/** Worker state shared by its job processors. */
export interface JobWorker {
  readonly id: string;
  readonly leaseMs: number;
  readonly maxClaimsWithoutProgress: number;
  readonly keeper: LeaseKeeper;
  readonly intake: Intake;
  readonly telemetry: Telemetry;
  readonly soloRuns: SoloRuns;
  /** Runs that were started directly, by the id of their job. */
  readonly started: Map<string, StartedRun>;
  readonly onError: (error: unknown) => void;
  readonly onRunEnd?: ((end: EndedRun) => void) | undefined;
  /** `stopping`: takes no more jobs. `leaving`: the grace period is over; nothing new starts. */
  phase: 'working' | 'stopping' | 'leaving';
  released: number;
}

/** The phase may change while a run waits or is being claimed. */
export const hasStopped = (worker: JobWorker): boolean => worker.phase !== 'working';
export const hasLeft = (worker: JobWorker): boolean => worker.phase === 'leaving';

/** A job that a worker took, and its run. */
export interface HeldJob extends TakenJob {
  deps: RunDependencies;
  queue: RunQueue;
  worker: JobWorker;
  run: HeldRun;
  /** For a run that was started before its job: resolves once this worker processes the job, if it does. */
  processed?: Promise<TakenJob>;
}

import type { Job, Worker } from 'bullmq';
import type { Clock } from '../../base/common/timer.ts';
import type { bullClasses } from './bull-calls.ts';

export interface QueueOptions {
  /** Redis when given, else BullMQ's PostgreSQL backend at `databaseUrl`. */
  redisUrl?: string | undefined;
  databaseUrl: string;
  /** First part of the queue names, `<prefix>-<shard>`; default `lf`. */
  prefix?: string;
  shards?: number;
  /** Opened only to be removed: writes no metadata. */
  removing?: boolean;
  /** Decides when a job is due; default: the clock of this process, for a queue that no other process uses. */
  clock?: Clock;
  /** How long a connection may be silent before it is replaced; default 15 s. */
  limitMs?: number;
  /** Receives lost Redis connections while this process has no worker to report them; must not throw. */
  onError?: ((error: unknown) => void) | undefined;
}

export type Processor = (
  job: Job<RunJob, RunJobResult>,
  token: string | undefined,
  signal: AbortSignal | undefined,
) => Promise<RunJobResult>;

export interface WorkOptions {
  concurrency: number;
  name: string;
  /**
   * How long a job's lock lasts without renewal. On PostgreSQL, the lock of a claimed run's job lasts longer: see
   * `makeLocksLast`.
   */
  lockMs: number;
  /**
   * Returns an object that identifies the claim of a job's run, a new one for each claim; without it, no run counts as
   * claimed.
   */
  claimOf?: (jobId: string) => object | undefined;
  /** Pause between BullMQ's checks for jobs whose worker died, on Redis. */
  stalledMs: number;
  /** Receives lost connections and the like, from the first one on; must not throw. */
  onError: (error: unknown) => void;
}

/** The facts that determine a job's queue. */
export interface PlacedJob {
  agent: string;
  queue_shard: number;
  agent_queue?: string | null;
}

/** A job to be added. Those with a priority wait behind those without, lower numbers first. */
export type NewJob = RunJob & PlacedJob & { priority?: number; delay_ms?: number };

/** Where a job is added: ahead of the waiting ones, or behind them. */
export type QueueEnd = 'front' | 'back';

/** The last job of a run. */
export interface LastJob extends PlacedJob {
  run_id: string;
  enqueue_no: number;
}

export interface RunQueue {
  readonly backend: Backend;
  readonly prefix: string;
  /** One per shard; for Bull Board and for inspection. */
  readonly queues: BullQueue[];
  /**
   * The queue that has the job of a run: the queue of its shard, or of its agent. A run may have been accepted while
   * there were more shards than now.
   */
  queueOf(run: PlacedJob): BullQueue;
  /** Adds a job behind the waiting ones. Adding the same job twice adds it once. */
  add(job: RunJob, shard: number): Promise<void>;
  /**
   * Adds jobs in their order, in few round trips. Adding the same job twice adds it once. At the front, priorities are
   * ignored.
   */
  addAll(jobs: readonly NewJob[], end: QueueEnd): Promise<void>;
  /** Whether a queue with this name is one of this fleet. */
  reaches(name: string): boolean;
  /**
   * Ends the delay of a job in the named queue, or adds the job if it is gone. Does nothing for the queue of another
   * fleet.
   */
  wake(job: RunJob & { queue: string }): Promise<void>;
  /**
   * Starts processing the jobs of every shard, or with `agentQueue`, those in that agent's queue instead.
   *
   * @throws LanefoldError `queue_unreachable`; `database_unreachable` for an agent's queue in PostgreSQL
   */
  work(processor: Processor, options: WorkOptions, agentQueue?: string): Promise<BullWorker[]>;
  /** @throws LanefoldError `queue_unreachable` */
  ready(): Promise<void>;
  /** Removes jobs that ended more than `keepMs` ago; of the rest, keeps only the last `keep` per shard and state. */
  clean(kept: { keepMs: number; keep: number }): Promise<void>;
  /** Removes jobs and their logs, including earlier jobs of the same run; returns how many there were. */
  remove(jobs: readonly LastJob[]): Promise<number>;
  /** Removes the queues with all their jobs. */
  obliterate(): Promise<void>;
  close(): Promise<void>;
}

export type Backend = 'redis' | 'postgres';
export type BullQueue = InstanceType<ReturnType<typeof bullClasses>['Queue']>;
export type BullWorker = Worker<RunJob, RunJobResult>;

/** The payload of a job: which run to claim, and nothing of the conversation. */
export interface RunJob {
  thread_id: string;
  run_id: string;
  enqueue_no: number;
  /** Shown in Bull Board. */
  agent: string;
}

/** The return value of a job: ids and numbers only, so that the conversation never stays in the queue. */
export interface RunJobResult {
  status: string;
  /** Why the job had nothing to claim. */
  reason?: string;
  /** Tool calls that a suspended run awaits, by round, index and name. */
  approvals?: string[];
  /** The type of the error. */
  error?: string;
  iterations?: number;
  tokens?: number;
}

export const jobId = (job: Pick<RunJob, 'run_id' | 'enqueue_no'>): string => `${job.run_id}.${job.enqueue_no}`;

export const toJob = ({ thread_id, run_id, agent, enqueue_no }: RunJob): RunJob => ({
  thread_id,
  run_id,
  agent,
  enqueue_no,
});

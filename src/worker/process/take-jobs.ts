import { within } from '../../base/common/timer.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { checkHealth } from '../../runs/operations/fleet/health.ts';
import { askWorker, closeWorker } from '../../runs/queue/bull-workers.ts';
import { DirectQueue } from '../../runs/queue/direct-queue.ts';
import type { RunQueue, WorkOptions } from '../../runs/queue/queue.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { AgentQueues } from './agent-queues.ts';
import { type JobWorker, hasStopped, type StartedRun, type TakenJob } from './intake.ts';
import type { OpenWorker } from './open-worker.ts';
import type { UnreadyReason, WorkerHealth } from './options.ts';
import { processJob, afterClaim } from './process-job.ts';
import { AsyncResource } from 'node:async_hooks';
import type { DirectWorker, NewRun, Place } from '../../runs/operations/runs/enqueue-request.ts';
import { claimBody } from '../../database/store/run/claim-run.ts';
import { HeldRun } from '../run/held-run.ts';
import { claimTerms } from './claim-job.ts';

export interface JobTaking {
  agentQueues: AgentQueues;
  /** Takes no more jobs. Resolves when those it has taken have ended. */
  stop(): Promise<unknown>;
}

/**
 * Takes jobs: of the shards, of the queues of its agents, and the runs that this process accepts.
 *
 * @throws LanefoldError `queue_unreachable`
 */
export async function takeJobs(open: OpenWorker, runDeps: RunDependencies): Promise<JobTaking> {
  const { deps, queue, options, known, worker } = open;
  const { intake } = worker;
  const process = processJob(runDeps, queue, worker);
  const jobs = workOptions(open);
  const workers = await queue.work(process, jobs);
  intake.open(workers, options.concurrency * workers.length);
  const shards = workers.map((one, shard) => new DirectQueue(queue.backend, queue.queues[shard]!, one));
  const direct = new DirectStarts(runDeps, queue, worker, shards);
  deps.directWorkers?.add(direct);
  const openQueue = async (agentQueue: string) => intake.open(await queue.work(process, jobs, agentQueue), 0);
  const agentQueues = new AgentQueues(deps.db, queue.prefix, known, openQueue, options.onError);
  return {
    agentQueues,
    async stop() {
      intake.close();
      deps.directWorkers?.delete(direct);
      await agentQueues.close();
      await Promise.allSettled([direct.settled(), ...intake.workers.map(closeWorker)]);
    },
  };
}

/**
 * A worker may die between taking a job and claiming its run. There is no lease yet, so the job's lock must expire as fast:
 * BullMQ's check finds it on Redis, the sweep on PostgreSQL.
 */
const workOptions = ({ queue, options, worker: { id, intake, keeper } }: OpenWorker): WorkOptions => ({
  concurrency: options.concurrency,
  name: id,
  lockMs: options.leaseMs,
  stalledMs: options.sweepMs,
  onError(error) {
    options.onError(error);
    // BullMQ on PostgreSQL fetches again at once after most errors, such as those of a starting server, so pause here
    if (queue.backend === 'postgres') void intake.interrupt();
  },
  claimOf: (jobId) => keeper.claimOf(jobId),
});

const answerTimeoutMs = 3_000;

/**
 * Checks the database and the queue, the queue also over the connections on which this worker takes jobs. Never
 * rejects.
 */
export async function workerHealth(
  db: Database,
  queue: RunQueue,
  { phase, keeper, intake }: JobWorker,
): Promise<WorkerHealth> {
  const [services, taking] = await Promise.all([
    checkHealth(db, queue),
    within(answerTimeoutMs, Promise.all(intake.workers.map(askWorker))).then(
      () => true,
      () => false,
    ),
  ]);
  const found: Record<UnreadyReason, boolean> = {
    stopping: phase !== 'working',
    database: 'database' in services || intake.paused,
    leases: keeper.late,
    queue: 'queue' in services || !taking,
  };
  const reasons = (Object.keys(found) as UnreadyReason[]).filter((reason) => found[reason]);
  return { ready: reasons.length === 0, reasons };
}

/**
 * Starts the runs that this process accepts, in the statement that accepts them, while the worker has a free slot and
 * no job waits: a run then needs no separate commit and no way through the queue before its first model call. BullMQ processes
 * its job like any other; the processor finds the run started. If this process dies, the lease expires, and the sweep of
 * any worker gives the run to another one.
 */
class DirectStarts implements DirectWorker {
  readonly #open = new Set<Promise<unknown>>();
  /** Tools and models must not see the request that a run was accepted in, nor keep its context alive. */
  readonly #context = new AsyncResource('lanefold.worker');

  constructor(
    private readonly deps: RunDependencies,
    private readonly queue: RunQueue,
    private readonly worker: JobWorker,
    /** By shard. */
    private readonly queues: readonly DirectQueue[],
  ) {}

  async reserve({ threadId, runId, agent: name, shard }: NewRun): Promise<Place | undefined> {
    const { deps, queue, worker } = this;
    const { soloRuns, intake } = worker;
    const own = this.queues[shard];
    if (!own || !deps.agents.has(name) || intake.paused || hasStopped(worker) || !(await own.reserve()))
      return undefined;
    const run = new HeldRun(threadId, runId, worker.leaseMs, performance.now());
    const hasEntered = intake.enter();
    if (!hasEntered || hasStopped(worker) || !soloRuns.enter(run)) {
      if (hasEntered) intake.leave();
      own.leave();
      return undefined;
    }
    let close!: () => void;
    const open = new Promise<void>((resolve) => (close = resolve));
    this.#open.add(open);
    const leave = () => {
      soloRuns.leave(run);
      intake.leave();
      this.#open.delete(open);
      close();
    };
    const agent = deps.agents.get(name);
    const job = own.take({ thread_id: threadId, run_id: runId, enqueue_no: 1, agent: name });
    return {
      claim: {
        ...claimBody(deps.db, claimTerms(deps, worker, agent)),
        job_token: job.token!,
        job_lock_ms: worker.leaseMs,
      },
      fill: (answer) =>
        this.#context.runInAsyncScope(() => {
          let onProcess!: StartedRun['onProcess'];
          const processed = new Promise<TakenJob>((resolve) => (onProcess = resolve));
          const held = { deps, queue, worker, job, token: job.token, run, processed };
          const running = afterClaim(held, answer, performance.now()).finally(leave);
          if (!answer.claimed) return void running.catch(worker.onError).finally(() => own.leave());
          // its job fails with it, but may not have been added yet
          running.catch(() => {});
          worker.started.set(job.id!, { running, onProcess });
          void own.process(job, running).finally(() => worker.started.delete(job.id!));
        }),
      leave: () => {
        leave();
        own.leave();
      },
    };
  }

  /** Resolves once no run that was started here is executing any more. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }
}

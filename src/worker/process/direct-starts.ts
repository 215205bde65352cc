import { AsyncResource } from 'node:async_hooks';
import type { DirectWorker, NewRun, Place } from '../../runs/operations/runs/direct-start.ts';
import type { DirectQueue } from '../../runs/queue/direct-queue.ts';
import type { RunQueue } from '../../runs/queue/queue.ts';
import { claimBody } from '../../database/store/run/claim-run.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { HeldRun } from '../run/held-run.ts';
import { afterClaim } from './after-claim.ts';
import { claimTerms } from './claim-job.ts';
import { hasStopped, type JobWorker, type StartedRun, type TakenJob } from './job-worker.ts';

/**
 * Starts the runs that this process accepts, in the statement that accepts them, while the worker has a free slot and
 * no job waits: a run then needs no commit of its own and no way through the queue before its first model call. BullMQ processes
 * its job like any other; the processor finds the run started. If this process dies, the lease expires, and the sweep of
 * any worker gives the run to another one.
 */
export class DirectStarts implements DirectWorker {
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
    const { company, intake } = worker;
    const own = this.queues[shard];
    if (!own || !deps.agents.has(name) || intake.paused || hasStopped(worker) || !(await own.reserve()))
      return undefined;
    const run = new HeldRun(threadId, runId, worker.leaseMs, performance.now());
    const hasEntered = intake.enter();
    if (!hasEntered || hasStopped(worker) || !company.enter(run)) {
      if (hasEntered) intake.leave();
      own.leave();
      return undefined;
    }
    let close!: () => void;
    const open = new Promise<void>((resolve) => (close = resolve));
    this.#open.add(open);
    const leave = () => {
      company.leave(run);
      intake.leave();
      this.#open.delete(open);
      close();
    };
    const agent = deps.agents.get(name);
    const job = own.take({ thread_id: threadId, run_id: runId, enqueue_no: 1, agent: name });
    return {
      claim: {
        ...claimBody(deps.db, claimTerms(deps, worker, agent)),
        ...{ job_token: job.token!, job_lock_ms: worker.leaseMs },
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

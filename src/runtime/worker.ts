import { DelayedError, UnrecoverableError, WaitingError, type Job } from 'bullmq';
import { isLanefoldError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { RunJob, RunJobResult } from '../queue/job.ts';
import { closeWorker, type RunQueue } from '../queue/queue.ts';
import { isPassing } from '../postgres/errors.ts';
import { listen } from '../postgres/listen.ts';
import { readersChannel } from '../streams/piece.ts';
import { cleanText } from '../text.ts';
import { addPromoted } from './add-promoted.ts';
import { claimRun } from './claim.ts';
import { driveRun } from './drive.ts';
import { handOver } from './hand-over.ts';
import { HandedOver, HeldRun } from './held-run.ts';
import { jobLog } from './job-log.ts';
import { jobResult } from './job-result.ts';
import { LeaseKeeper } from './leases.ts';
import { reportFaults } from './report-faults.ts';
import { traceRetention } from './retention.ts';
import { sweep } from './sweep.ts';
import { checkTraceOptions, type TraceOptions } from './trace-options.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface WorkerOptions extends TraceOptions {
  /** Runs at work at once in this process; default 20. They mostly wait for models. */
  concurrency?: number;
  /** How long a run stays this worker's without a sign of life; default 6,000. Renewed every third of it. */
  leaseMs?: number;
  /** Pause between sweeps, ±25 %; default 2,000. */
  sweepMs?: number;
  /** How long ended jobs stay in the queue for Bull Board; default one day. */
  keepJobsMs?: number;
  /** Claims without a committed step after which a run fails as `poisoned`; default 5. */
  maxFruitlessClaims?: number;
  /** How long a cancelled run may take to stop before it is ended without its worker; default 5,000. */
  cancelGraceMs?: number;
  /** How long `stop` lets runs end before it hands the rest over to other workers; default 25,000. */
  stopGraceMs?: number;
  /** Told when a run has ended in this worker, or waits for approval; must not throw. */
  onRunEnd?: (end: EndedRun) => void;
  /** Told of faults that are not a run's own: lost connections, failed sweeps. Default: a line on stderr. */
  onError?: (error: unknown) => void;
}

export interface EndedRun {
  threadId: string;
  runId: string;
  agent: string;
  /** `completed`, `failed` or `cancelled`; `suspended` where it waits for approval, and goes on later. */
  status: string;
  /** Since this worker took the run. */
  durationMs: number;
}

export interface RunningWorker {
  readonly id: string;
  /** Runs in the hands of this worker. */
  readonly active: number;
  /**
   * Takes no more work, lets runs end for `stopGraceMs`, and closes. What has not ended by then is broken off, and its
   * runs go back to the queue at once, for other workers; a model call is made again there, and a tool as after a crash.
   */
  stop(options?: { graceMs?: number }): Promise<StopReport>;
}

export interface StopReport {
  /** Runs given back to the queue. */
  handedOver: number;
}

/** During a rolling deployment a newer worker may know the agent: the job is passed on before the run is failed. */
const unknownAgentPasses = 30;
const unknownAgentPauseMs = 2_000;

/** Starts to work off runs. Defaults: a run of a killed worker goes on elsewhere within lease + sweep, under 9 s. */
export function startWorker(deps: WorkerDeps, queue: RunQueue, options: WorkerOptions = {}): RunningWorker {
  const {
    concurrency = 20,
    leaseMs = 6_000,
    sweepMs = 2_000,
    keepJobsMs = 86_400_000,
    maxFruitlessClaims = 5,
    cancelGraceMs = 5_000,
    stopGraceMs = 25_000,
  } = options;
  const { retentionDays } = checkTraceOptions(options);
  const onError = options.onError ?? reportFaults(deps.redactor);
  const { live } = deps;
  const id = newId('worker');
  const keeper = new LeaseKeeper(deps.db, leaseMs);
  /** No more work is taken. */
  let stopped = false;
  /** The grace of `stop` is over: nothing is begun any more. */
  let leaving = false;
  let handedOver = 0;
  const adoptable = deps.privateQueue ? [] : deps.agents.names;

  const process = async (job: Job<RunJob, RunJobResult>, token?: string): Promise<RunJobResult> => {
    const { thread_id: threadId, run_id: runId, enqueue_no: enqueueNo } = job.data;
    if (stopped) {
      // it was on its way when the worker stopped: another worker takes it
      await job.moveToWait(token);
      throw new WaitingError();
    }
    const agent = deps.agents.has(job.data.agent) ? deps.agents.get(job.data.agent) : undefined;
    if (!agent && job.attemptsStarted <= unknownAgentPasses) {
      await job.moveToDelayed(Date.now() + unknownAgentPauseMs, token);
      throw new DelayedError();
    }
    const startedAt = performance.now();
    const run = new HeldRun(threadId, runId, leaseMs, startedAt);
    const claim = await claimRun(deps.db, {
      threadId,
      runId,
      enqueueNo,
      workerId: id,
      leaseMs,
      prompt: agent ? (agent.instructions ?? null) : undefined,
      fingerprint: agent?.fingerprint ?? '',
      maxFruitlessClaims,
    }).catch((error: unknown) => {
      // BullMQ tells of a failed job, not of why; the sweep gives the run out again
      onError(error);
      throw error;
    });
    const ended = (status: string) =>
      options.onRunEnd?.({
        threadId,
        runId,
        agent: job.data.agent,
        status,
        durationMs: Math.round(performance.now() - startedAt),
      });
    if (!claim.claimed) {
      if (claim.reason === 'poisoned') ended(claim.status ?? 'failed');
      if (claim.promoted) await addPromoted(deps.db, queue, claim.promoted).catch(onError);
      return { status: claim.status ?? 'unknown', reason: claim.reason };
    }
    run.lease = claim.lease;
    run.step = claim.step;
    keeper.hold(run);
    if (leaving) run.lose(new HandedOver());
    const log = jobLog(job, claim, agent);
    live?.committed(threadId);
    const onStep: WorkerDeps['onStep'] = (...step) => {
      log.step(...step);
      live?.committed(threadId);
    };
    try {
      const end = await driveRun({ ...deps, maxTraceEvents: options.maxTraceEvents, onStep }, run, claim);
      keeper.release(run);
      if (end.status !== 'suspended') deps.onEnd?.(run);
      live?.committed(threadId);
      ended(end.status);
      if (end.promoted) await addPromoted(deps.db, queue, end.promoted).catch(onError);
      await log.end(end);
      return jobResult(end, deps.redactor);
    } catch (error) {
      if (error instanceof UnrecoverableError) throw error;
      if (isLanefoldError(error, 'lease_lost')) return { status: 'lease_lost' };
      if (leaving || isPassing(error)) {
        keeper.release(run);
        const given = await handOver(deps.db, queue, run, leaving).catch(() => false);
        if (given && leaving) {
          handedOver += 1;
          return { status: 'handed_over' };
        }
      }
      // The run itself is safe: where it was not handed over, its lease runs out and the sweep finds it.
      onError(error);
      throw new UnrecoverableError(cleanText(error instanceof Error ? error.message : String(error)));
    } finally {
      log.drop();
      keeper.release(run);
    }
  };

  const notices = deps.directUrl
    ? listen(deps.directUrl, {
        lanefold_cancel: () => void keeper.renew(),
        [readersChannel]: (payload) => live?.announced(payload),
      })
    : undefined;

  // A worker may die between taking a job and claiming its run, and no lease tells of that: the job's lock must, as soon.
  const workers = queue.work(process, { concurrency, name: id, lockMs: leaseMs, stalledMs: sweepMs });
  for (const worker of workers) worker.on('error', onError);

  const timers = new Set<NodeJS.Timeout>();
  const repeat = (everyMs: number, work: () => Promise<unknown>) => {
    const next = () => {
      if (stopped) return;
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          void work().catch(onError).finally(next);
        },
        everyMs * (0.75 + Math.random() / 2),
      );
      timers.add(timer.unref());
    };
    next();
  };
  repeat(sweepMs, () =>
    sweep(deps.db, queue, { graceMs: Math.min(5_000, leaseMs), cancelGraceMs, limit: 100, adoptable, onError }),
  );
  repeat(Math.max(60_000, sweepMs), () => queue.clean(keepJobsMs));
  repeat(sweepMs, traceRetention(deps.db, retentionDays));

  return {
    id,
    get active() {
      return keeper.size;
    },
    async stop({ graceMs = stopGraceMs } = {}) {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      // at once: a run that is handed over must not come back
      for (const worker of workers) void worker.pause(true);
      const drained = Promise.allSettled(workers.map(closeWorker));
      const patience = setTimeout(() => {
        leaving = true;
        keeper.loseAll(() => new HandedOver());
      }, graceMs);
      await drained;
      clearTimeout(patience);
      await notices?.close();
      keeper.stop();
      return { handedOver };
    },
  };
}

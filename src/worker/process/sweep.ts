import { settleRun } from '../../runs/limiter/run-budget.ts';
import { findExpiredRuns, type ExpiredRun } from '../../database/store/run/find-expired-runs.ts';
import type { WorkerPart } from '../part.ts';
import type { OpenWorker } from './open-worker.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { dispatchAll, dispatchFirst } from '../../runs/queue/relay.ts';
import type { RunQueue } from '../../runs/queue/queue.ts';
import { expireWaits, findExpiredWaits } from '../../database/store/wait/expire-waits.ts';
import { findQueuedRuns } from '../../database/store/run/find-queued-runs.ts';
import { findStrandedRuns, type StrandedRun } from '../../database/store/run/find-stranded-runs.ts';
import { findUnattendedNeeds } from '../../database/store/run/find-unknown-agents.ts';
import { failExpired, failUnknownAgent, finishCancelledRun } from '../../database/store/run/finish-run.ts';
import type { SweepLimits, DueRun } from '../../database/store/run/sweep-limits.ts';
import { queueRunsAgain } from '../../database/store/run/queue-again.ts';
import { markJobsSeen } from '../../database/store/run/find-jobs.ts';
import { jobPlaces, wakeRun } from '../../runs/queue/jobs-in-queue.ts';
import type { AgentQueues } from './agent-queues.ts';

/** Finds the runs and jobs that processes left, and opens the queues of agents that have jobs for this worker. */
export function recovery(open: OpenWorker, agentQueues: AgentQueues): WorkerPart {
  const { deps, queue, options, known, worker, since, recordVersions } = open;
  const { leaseMs, cancelGraceMs, unknownAgentMs, onError } = options;
  const onExpired = ({ thread_id: threadId, run_id: runId, agent }: ExpiredRun) => {
    const run = { threadId, runId, agent };
    void settleRun(deps, run).catch(onError);
    worker.telemetry.runRefused(run, 'expired');
    options.onRunEnd?.({ ...run, status: 'failed', durationMs: 0 });
  };
  const work = async () => {
    const from = await since();
    await recordVersions();
    await agentQueues.openAll(from).catch(onError);
    await sweep(deps.db, queue, {
      since: from,
      graceMs: Math.min(5_000, leaseMs),
      cancelGraceMs,
      adoptable: deps.privateQueue ? [] : known.agents,
      known,
      unknownAgentMs,
      onError,
      onExpired,
    });
  };
  return { sweeps: [{ work }] };
}

export interface SweepOptions extends Omit<SweepLimits, 'queuePrefix' | 'adoptMs'> {
  onError: (error: unknown) => void;
  /** Called for each run that the sweep ended because no worker started it in time. */
  onExpired: (run: ExpiredRun) => void;
}

type Reporting = Sweeping & Pick<SweepOptions, 'onExpired'>;

/** How long runs of another fleet are left to its own workers, in ms; after that the fleet counts as gone. */
export const adoptMs = 300_000;

/** Runs of each kind examined at a time. */
const batch = 500;
/** Queued runs whose jobs each sweep checks. It checks more only if some of these jobs are lost. */
const sample = 100;

/**
 * Recovers runs that no worker holds and the queue does not know: runs with an expired lease, and queued runs whose job
 * was never added or was lost. This makes the `run` table an outbox. The sweep also ends cancelled runs that did not
 * stop in time and runs that no worker started in time, and ends waits whose time is up. Runs that
 * a worker has left come first, and never wait for runs that no worker has had.
 *
 * @returns how many jobs were added
 */
export async function sweep(
  db: Database,
  queue: RunQueue,
  { onError, onExpired, ...options }: SweepOptions,
): Promise<number> {
  const sweeping: Reporting = {
    db,
    queue,
    onError,
    onExpired,
    limits: { ...options, queuePrefix: queue.prefix, adoptMs },
  };
  let added = 0;
  for (const part of [sweepStranded, sweepWaits, sweepExpired, sweepQueued]) added += await part(sweeping);
  return added;
}

async function sweepStranded(sweeping: Sweeping): Promise<number> {
  const { db, queue, onError } = sweeping;
  const { queuePrefix, unknownAgentMs, since } = sweeping.limits;
  const needs = unknownAgentMs === undefined ? [] : await findUnattendedNeeds(db, queuePrefix, unknownAgentMs, since);
  const limits = { ...sweeping.limits, unattended: needs.map(({ key }) => key) };
  let added = 0;
  for (;;) {
    const found = await findStrandedRuns(db, limits, batch);
    const stranded = (work: StrandedRun['work']) => found.filter((run) => run.work === work);
    const queued =
      (await queueLostAgain(sweeping, stranded('expired'), { expired: true })) +
      (await queueLostAgain(sweeping, stranded('moved'), { expired: false }));
    const ends = [
      ...(await inTurn(stranded('cancelled'), (run) => finishCancelledRun(db, run).catch(onError))),
      ...(await inTurn(stranded('unknown_agent'), (run) =>
        failUnknownAgent(db, run, limits.unknownAgentMs!).catch(onError),
      )),
    ];
    const promoted = ends.flatMap((end) => end.promoted ?? []);
    await dispatchAll(db, queue, promoted, 'back', onError);
    added += queued + promoted.length;
    if (found.length < batch || queued + ends.length === 0) return added;
  }
}

async function sweepWaits({ db, queue, limits, onError }: Sweeping): Promise<number> {
  let added = 0;
  for (;;) {
    const found = await findExpiredWaits(db, limits, batch);
    const resumed = await inTurn(found, (run) => expireWaits(db, run, limits).catch(onError));
    await dispatchFirst(db, queue, resumed, onError);
    added += resumed.length;
    if (found.length < batch || resumed.length === 0) return added;
  }
}

async function sweepExpired({ db, queue, onError, onExpired }: Reporting): Promise<number> {
  let added = 0;
  for (;;) {
    const found = await findExpiredRuns(db, batch);
    const ends = await inTurn(found, async (run) => {
      const end = await failExpired(db, run).catch(onError);
      if (end?.finished) onExpired(run);
      return end;
    });
    const promoted = ends.flatMap((end) => end.promoted ?? []);
    await dispatchAll(db, queue, promoted, 'back', onError);
    added += promoted.length;
    if (found.length < batch || ends.length === 0) return added;
  }
}

/**
 * Checks a sample of the jobs. If some are lost, the queue may have lost any, so it checks all of them, batch by batch.
 */
async function sweepQueued(sweeping: Sweeping): Promise<number> {
  let added = 0;
  for (let limit = sample; ; limit = batch) {
    const found = await findQueuedRuns(sweeping.db, sweeping.limits, limit);
    const queued = await queueLostAgain(sweeping, found, { expired: false });
    added += queued;
    if (found.length < limit || queued === 0) return added;
  }
}

/** Handles one run at a time, so that a sweep takes one connection. Leaves out empty results. */
async function inTurn<Run, Result extends object>(
  runs: Run[],
  act: (run: Run) => Promise<Result | undefined | void>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const run of runs) {
    const result = await act(run);
    if (result) results.push(result);
  }
  return results;
}

interface Sweeping {
  db: Database;
  queue: RunQueue;
  limits: SweepLimits;
  onError: (error: unknown) => void;
}

/** Adds a new job for each of these runs that has lost its job, in order. Returns how many. */
async function queueLostAgain(
  { db, queue, limits, onError }: Sweeping,
  runs: DueRun[],
  { expired }: { expired: boolean },
): Promise<number> {
  const { lost, first, present } = await findLostJobs(db, queue, runs, { expired, onError });
  if (present.length > 0) await markJobsSeen(db, present);
  // a claim that was executed long after it was given up has taken a run whose job was to wait for an hour
  if (expired) for (const run of present) await wakeRun(queue, run).catch(onError);
  if (lost.length === 0) return 0;
  const queued = await queueRunsAgain(db, lost, limits);
  const newJob = new Map(queued.map((job) => [`${job.thread_id} ${job.run_id}`, job]));
  const jobsOf = (some: DueRun[]) =>
    some.flatMap(({ thread_id, run_id, priority }) => {
      const job = newJob.get(`${thread_id} ${run_id}`);
      return job ? [{ ...job, ...(priority ? { priority } : {}) }] : [];
    });
  await dispatchFirst(db, queue, jobsOf(lost.filter((run) => first.has(run))), onError);
  await dispatchAll(db, queue, jobsOf(lost.filter((run) => !first.has(run))), 'back', onError);
  return queued.length;
}

interface JobsOfRuns {
  /** Runs whose job was lost, by the queue or by a worker that died. */
  lost: DueRun[];
  /** The lost runs that a worker had already taken: their new job goes ahead of the waiting jobs. */
  first: Set<DueRun>;
  present: DueRun[];
}

/**
 * Finds the runs that have lost their job. If their lease has `expired`, an active job belongs to the dead worker and
 * counts as lost. If the queue does not answer, both lists are empty: it could not take new jobs either.
 */
async function findLostJobs(
  db: Database,
  queue: RunQueue,
  runs: DueRun[],
  { expired, onError }: { expired: boolean; onError: (error: unknown) => void },
): Promise<JobsOfRuns> {
  const found: JobsOfRuns = { lost: [], first: new Set(), present: [] };
  const places = runs.length > 0 ? await jobPlaces(db, queue, runs).catch(onError) : undefined;
  for (const [i, place] of (places ?? []).entries()) {
    const run = runs[i]!;
    const isLost = place === 'gone' || place === 'stalled' || (place === 'active' && expired);
    (isLost ? found.lost : found.present).push(run);
    if (isLost && (run.taken || place === 'stalled')) found.first.add(run);
  }
  return found;
}

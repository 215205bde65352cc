import type pg from 'pg';
import { createLanefold } from '../lanefold/create.ts';
import type { Lanefold } from '../lanefold/lanefold.ts';
import type { Logger } from '../log/logger.ts';
import { countSessions, readCounters } from '../store/scratch/read-server.ts';
import { executeRuns, type Load } from './execute-runs.ts';
import { FirstCalls } from './first-calls.ts';
import { measureCosts } from './measure-costs.ts';
import type { Level } from './report.ts';
import type { Rig } from './rig.ts';
import { agent } from './workload.ts';
import { delay } from '../common/timer.ts';

/** A worker usually has places left for the next runs. */
const leastPlaces = 20;
const warmUpShare = 0.1;
const stopGraceMs = 2_000;
const sessionsEndMs = 5_000;

/**
 * Executes runs in this process as client and worker, and measures all but the first tenth of the time. Commits and disk
 * space are those of all runs, from the first connection to the last, because open connections report them late.
 */
export async function measureLevel(rig: Rig, load: Load): Promise<Level> {
  const { observer, scratch } = rig;
  const startedAt = performance.now();
  const before = await readCounters(observer, scratch.name);
  const calls = new FirstCalls();
  const lanefold = await open(rig, calls);
  let warmUp: number;
  let measured: Awaited<ReturnType<typeof measureCosts>>;
  try {
    // a place is free once the job of its run has ended, after the run: with as many places as runs, some runs would wait
    const places = Math.max(2 * load.concurrency, leastPlaces);
    await lanefold.startWorker({ concurrency: places, stopGraceMs });
    warmUp = await executeRuns(lanefold, calls, { ...load, seconds: warmUpShare * load.seconds });
    calls.waits.clear();
    measured = await measureCosts(rig, () =>
      executeRuns(lanefold, calls, { ...load, seconds: (1 - warmUpShare) * load.seconds }),
    );
  } finally {
    await lanefold.close();
  }
  await untilSessionsEnd(observer, scratch.name);
  const after = await readCounters(observer, scratch.name);
  const { runs, seconds, connections, ...costs } = measured;
  const elapsedSeconds = (performance.now() - startedAt) / 1_000;
  return {
    concurrency: load.concurrency,
    runs,
    seconds,
    runs_per_second: runs / seconds,
    first_model_call_ms: calls.waits.percentiles(),
    per_run: {
      cpu_ms: costs.cpuMs / runs,
      postgres_cpu_ms: costs.postgresCpuMs === undefined ? null : costs.postgresCpuMs / runs,
      redis_cpu_ms: costs.redisCpuMs === undefined ? null : costs.redisCpuMs / runs,
      wal_bytes: costs.walBytes === undefined ? null : costs.walBytes / runs,
      commits: (after.commits - before.commits) / (warmUp + runs),
      disk_bytes: (after.bytes - before.bytes) / (warmUp + runs),
    },
    connections,
    other_commits_per_second: (after.otherCommits - before.otherCommits) / elapsedSeconds,
  };
}

const open = ({ scratch, redisUrl, queuePrefix, onError }: Rig, { model }: FirstCalls): Promise<Lanefold> =>
  createLanefold({
    databaseUrl: scratch.url,
    directUrl: scratch.url,
    ...{ redisUrl, queuePrefix, queueShards: 1 },
    agents: [agent],
    models: { bench: () => model },
    // nothing here belongs to anybody, and no trace of it may reach a collector
    ...{ roleCheck: 'off', telemetry: false, logger: errorsTo(onError) },
  });

const errorsTo = (onError: (message: string) => void): Logger => ({
  ...{ debug() {}, info() {}, warn() {} },
  error: (_, message) => onError(message),
});

async function untilSessionsEnd(observer: pg.Client, database: string): Promise<void> {
  const giveUpAt = performance.now() + sessionsEndMs;
  while (performance.now() < giveUpAt && (await countSessions(observer, database)).open > 0) await delay(20);
}

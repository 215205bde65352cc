import { tryAll } from '../support/cases.ts';
import { until } from '../support/until.ts';
import type { FaultHarness, WorkerProcess } from './harness.ts';
import type { WorkerOptions } from 'lanefold';

/** The points that a run of this thread passed in an undisturbed worker. */
export function pointsOf(undisturbed: WorkerProcess, threadId: string): string[] {
  const prefix = `point ${threadId} `;
  return undisturbed.lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
}

/**
 * Of these points, one of each kind, such as `before commit_step`; `npm run test:long` has all of them.
 *
 * @param nth which one of the first kind; of the next kind it is the next one, and so on
 */
export function sampleOf(points: string[], nth: number): string[] {
  if (tryAll) return points;
  const kindOf = (point: string) => point.replace(/ [\d:]+$/, '');
  return [...new Set(points.map(kindOf))].map((kind, i) => {
    const some = points.filter((point) => kindOf(point) === kind);
    return some[(i + nth) % some.length]!;
  });
}

/**
 * Starts a run on each thread in one worker process, which stops it at its crash point, and kills that worker once all have
 * stopped. Then every lease is over, and every job that was taken but not claimed may be replaced.
 */
export async function crashAt(
  harness: FaultHarness,
  crashPoints: Record<string, string>,
  { worker, start }: CrashOptions,
): Promise<void> {
  const threads = Object.keys(crashPoints);
  const crashing = await harness.spawnWorker({ name: 'crashing', worker, crashPoints });
  await Promise.all(threads.map(start));
  const missing = () => {
    const blocked = new Set(crashing.lines.flatMap((line) => /^blocked (\S+)/.exec(line)?.[1] ?? []));
    return threads.filter((threadId) => !blocked.has(threadId));
  };
  await until('every run is blocked at its crash point', () => missing().length === 0).catch((error: unknown) => {
    throw new Error(`${missing().join(', ')} did not reach their crash points.`, { cause: error });
  });
  await crashing.kill();
  for (const threadId of threads) await harness.expireLease(threadId);
  await harness.replaceJobs();
}

interface CrashOptions {
  worker: WorkerOptions;
  start: (threadId: string) => Promise<void>;
}

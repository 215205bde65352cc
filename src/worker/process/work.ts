import { deadline } from '../../base/common/timer.ts';
import { assertWhole } from '../../base/checks/values.ts';
import type { WorkReport } from '../../runs/operations/fleet/types.ts';
import type { EndedRun, RunningWorker, WorkerOptions } from './options.ts';

export interface WorkOptions extends WorkerOptions {
  /**
   * How long the worker works at most, in ms; default 55,000. Runs that are still active in its last `stopGraceMs`, at most half
   * of that time, have the rest to end; then they are released for other workers.
   */
  maxMs?: number;
  /** Ends the time early. */
  signal?: AbortSignal;
}

const defaultMaxMs = 55_000;

/** The part of the time of a worker that its last runs have, in ms. */
export const graceWithin = (maxMs: number, stopGraceMs = 25_000): number =>
  Math.floor(Math.min(stopGraceMs, maxMs / 2));

/** Works until nothing is due, the time is over, or `closing` aborts. @throws LanefoldError `invalid_input`, or as `start` */
export async function workUntilIdle(
  start: (options: WorkerOptions) => Promise<RunningWorker>,
  { maxMs = defaultMaxMs, signal, onRunEnd, stopGraceMs, ...options }: WorkOptions,
  closing: AbortSignal,
): Promise<WorkReport> {
  assertWhole(maxMs, 'maxMs', { minimum: 1_000, maximum: 3_600_000, hint: 'Omit it for the default of 55,000.' });
  const graceMs = graceWithin(maxMs, stopGraceMs);
  const over = deadline(maxMs - graceMs);
  let ended = 0;
  const worker = await start({
    ...options,
    stopGraceMs: graceMs,
    onRunEnd(run: EndedRun) {
      ended += 1;
      onRunEnd?.(run);
    },
  });
  const until = AbortSignal.any([over.signal, closing, ...(signal ? [signal] : [])]);
  const idle = await worker.idle({ signal: until }).then(
    () => true,
    () => false,
  );
  over.cancel();
  const { released } = await worker.stop();
  return { ended, released, idle };
}

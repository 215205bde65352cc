import { deadline } from '../../base/common/timer.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { assertWhole } from '../../base/checks/values.ts';
import type { WorkReport } from '../../runs/operations/fleet/types.ts';
import { defaultStopGraceMs, optionKeys, type EndedRun, type RunningWorker, type WorkerOptions } from './options.ts';

export interface WorkOptions extends WorkerOptions {
  /**
   * How long the worker works at most, in ms; default 55,000. Runs that are still active in its last `stopGraceMs`, at most half
   * of that time, have the rest to end; then they are released for other workers.
   */
  maxMs?: number;
  /** Ends the time early. */
  signal?: AbortSignal;
}

const workKeys: KeysOf<WorkOptions> = { ...optionKeys, maxMs: true, signal: true };

const defaultMaxMs = 55_000;

/** How long a worker takes runs that ends after `maxMs`, and how long they have to end then, in ms. */
export function timesWithin(maxMs: number, stopGraceMs = defaultStopGraceMs): { takesMs: number; graceMs: number } {
  const graceMs = Math.floor(Math.min(stopGraceMs, maxMs / 2));
  return { takesMs: maxMs - graceMs, graceMs };
}

/** Works until nothing is due, the time is over, or `closing` aborts. @throws LanefoldError `invalid_input`, or as `start` */
export async function workUntilIdle(
  start: (options: WorkerOptions) => Promise<RunningWorker>,
  given: WorkOptions,
  closing: AbortSignal,
): Promise<WorkReport> {
  refuseUnknownKeys('work', given, workKeys);
  const { maxMs = defaultMaxMs, signal, onRunEnd, stopGraceMs, ...options } = given;
  assertWhole(maxMs, 'maxMs', { minimum: 1_000, maximum: 3_600_000, hint: 'Omit it for the default of 55,000.' });
  const { takesMs, graceMs } = timesWithin(maxMs, stopGraceMs);
  const over = deadline(takesMs);
  let ended = 0;
  try {
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
    const { released } = await worker.stop();
    return { ended, released, idle };
  } finally {
    over.cancel();
  }
}

import { LanefoldError } from '../errors.ts';
import type { Lanefold } from '../lanefold/lanefold.ts';
import type { FirstCalls } from './first-calls.ts';
import { agent } from './workload.ts';
import { delay } from '../common/timer.ts';

export interface Load {
  /** Runs at a time: each one is requested when the one before it has ended. */
  concurrency: number;
  seconds: number;
  signal: AbortSignal;
}

/** If no run ends for this long, something that runs need does not answer. */
const stalledMs = 30_000;

/**
 * Executes runs for some seconds, and returns how many.
 *
 * @throws LanefoldError `wait_timeout` if runs stop ending. Throws the reason of the signal as soon as it is aborted.
 */
export async function executeRuns(lanefold: Lanefold, calls: FirstCalls, load: Load): Promise<number> {
  const until = performance.now() + load.seconds * 1_000;
  const over = new AbortController();
  const stop = AbortSignal.any([over.signal, load.signal]);
  let ended = 0;
  const slots = Array.from({ length: load.concurrency }, async () => {
    do {
      await executeRun(lanefold, calls.ask());
      ended++;
    } while (performance.now() < until && !stop.aborted);
  });
  const watch = async (): Promise<never> => {
    let before: number;
    do {
      before = ended;
      await delay(stalledMs, { signal: stop }).catch(() => stop.throwIfAborted());
    } while (ended > before);
    throw new LanefoldError('wait_timeout', `No run has ended for ${stalledMs / 1_000} seconds.`, {
      hint: 'Look at the database and the queue: one of them accepts work and does not answer.',
    });
  };
  try {
    await Promise.race([Promise.all(slots), watch()]);
    return ended;
  } finally {
    over.abort();
  }
}

async function executeRun(lanefold: Lanefold, input: string): Promise<void> {
  const { status, error } = await lanefold.runs.wait(await lanefold.runs.enqueue({ agent: agent.name, input }));
  if (status === 'completed') return;
  throw new LanefoldError('internal', `A run of the benchmark ended as ${status}: ${error?.message}`, {
    hint: 'This is a bug in lanefold.',
  });
}

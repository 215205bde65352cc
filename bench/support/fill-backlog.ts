import type { Lanefold } from 'lanefold';
import type { slowAgent } from '../slow-model.ts';
import { text400, type agent } from '../workload.ts';

const atOnce = 500;

/** Enqueues slow runs, which go after all runs without a priority, until so many are queued. */
export async function fillBacklog(lanefold: Lanefold<typeof agent | typeof slowAgent>, runs: number): Promise<void> {
  let missing = runs - (await lanefold.stats()).runs.queued;
  for (; missing > 0; missing -= atOnce) {
    // different latencies, so that the slots do not all become free at the same time
    const request = (_: unknown, i: number) =>
      ({ agent: 'slow', model: `latency:${600 + ((i * 37) % 800)}`, input: text400, priority: 10 }) as const;
    await lanefold.runs.enqueueMany(Array.from({ length: Math.min(atOnce, missing) }, request));
  }
}

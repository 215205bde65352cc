import { useLimits } from '../../../src/store/limit/use-limits.ts';
import { limitsVersion, place } from '../model/limits.ts';
import type { Held } from './held.ts';

export interface Taken {
  amount: number;
  slice: number;
  used: number;
}

/** Reserves tokens for some model calls. A lost answer is not repeated: what was taken returns with the end of the run. */
export async function reserve(held: Held, iteration: number): Promise<Taken | undefined> {
  const random = held.actor.world.chances.of(`tokens ${held.runId} ${iteration}`);
  if (!random.chance(0.4)) return undefined;
  const amount = random.int(10, 100);
  const call = {
    thread_id: held.threadId,
    run_id: held.runId,
    version: limitsVersion,
    take: [[place, amount]] as const,
  };
  const answer = await useLimits(held.actor.db, call).catch(() => undefined);
  return answer?.slices && { amount, slice: answer.slices[place]!, used: random.int(1, amount) };
}

/** Gives back what a call has reserved. */
export async function returned({ actor, threadId, runId }: Held, { amount, slice, used }: Taken): Promise<void> {
  const done: [string, number, number, number][] = [[place, amount, slice, used]];
  await useLimits(actor.db, { thread_id: threadId, run_id: runId, done }).catch(() => {});
}

/** Gives back everything that a run holds. */
export async function settle({ actor, threadId, runId }: Held): Promise<void> {
  await useLimits(actor.db, { thread_id: threadId, run_id: runId, end: { [place]: 0 } }).catch(() => {});
}

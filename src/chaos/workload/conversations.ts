import { randomOf } from '../random.ts';
import type { Client } from './client.ts';
import { converse, runCustom, type CustomWorkload } from './conversation.ts';
import { haveLimitedRuns } from './limited.ts';
import { setLimits } from './limits.ts';
import { haveOddRuns } from './odd.ts';
import { decide } from './people.ts';
import { haveSchedules } from './scheduled.ts';

export interface Workload {
  seed: number;
  /** Concurrent conversations. */
  concurrency: number;
  custom?: CustomWorkload | undefined;
}

/** Limits the runs of a built-in thread, so that contexts stay short. */
const runsPerThread = 5;

/**
 * Has conversations, one after the other in each slot until `stopping` aborts, beside runs with strict limits, of a provider
 * with odd answers and of schedules; and people who decide until the client's
 * signal does. Resolves when every conversation has ended; rejects if one fails, or if people can no longer decide.
 */
export async function haveConversations(client: Client, workload: Workload, stopping: AbortSignal): Promise<void> {
  const { seed, concurrency, custom } = workload;
  if (!custom) await setLimits(client, concurrency);
  const slots = Array.from({ length: concurrency }, async (_, slot) => {
    const random = randomOf(seed, `conversation ${slot}`);
    const pauses = randomOf(seed, `pauses ${slot}`);
    for (let n = 0; !stopping.aborted; n++) {
      if (custom) await runCustom(client, `chaos-${slot}-${n}`, custom);
      else await converse(client, `chaos-${slot}-${Math.floor(n / runsPerThread)}`, `${slot}.${n}`, random, pauses);
    }
  });
  const others = custom
    ? []
    : [
        haveLimitedRuns(client, randomOf(seed, 'limited'), stopping),
        ...[0, 1].map((slot) => haveOddRuns(client, slot, stopping)),
        haveSchedules(client, stopping),
      ];
  const conversations = Promise.all([...slots, ...others]);
  const people = custom ? undefined : decide(client, randomOf(seed, 'people'));
  await Promise.race([conversations, ...(people ? [people.then(() => conversations)] : [])]);
}

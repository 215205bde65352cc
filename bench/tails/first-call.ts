import { fileURLToPath } from 'node:url';
import type { Servers } from '../setup.ts';
import { backends } from '../support/backends.ts';
import { quantile } from '../support/median.ts';
import { sideBySide, type Contestant } from '../support/side-by-side.ts';
import type { Conditions } from '../systems/lanefold.ts';

const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));
const concurrencies = [1, 10, 50] as const;
const backlog = 5_000;

/**
 * Measures how long runs wait for their first model call. The queued runs have a lower priority and a model that takes a second;
 * they take every slot that is free, so a measured run also waits until one of fifty becomes free.
 */
export async function firstCall(servers: Servers): Promise<void> {
  const contestants = backends(servers).flatMap(({ name, redisUrl }): Contestant[] => {
    const contestant = (what: string, options: Conditions) => ({
      name: what,
      file,
      usesRedis: redisUrl !== null,
      options,
    });
    return [contestant(name, {}), contestant(`${name}, ${backlog} queued`, { backlog })];
  });
  const figuresOf = await sideBySide(servers, contestants, { rounds: 3, seconds: 2, warmUpSeconds: 3, concurrencies });
  console.log('\nEnqueue to first model call (ms; all runs of 3 interleaved rounds)');
  for (const concurrency of concurrencies) {
    for (const contestant of contestants) {
      const times = figuresOf(contestant, concurrency).firstCallsMs!;
      const at = (share: number) => quantile(times, share).toFixed(1).padStart(7);
      console.log(
        `${String(concurrency).padStart(2)} at a time, ${contestant.name.padEnd(24)} p50 ${at(0.5)}  p95 ${at(0.95)}  p99 ${at(0.99)}  max ${at(1)}  (${times.length} runs)`,
      );
    }
  }
}

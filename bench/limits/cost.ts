import { fileURLToPath } from 'node:url';
import { migrate } from 'lanefold';
import type { Servers } from '../setup.ts';
import { backends } from '../support/backends.ts';
import { printRelativeSpeed } from '../support/relative-speed.ts';
import { sideBySide, type Contestant } from '../support/side-by-side.ts';
import { setLimits } from './set-limits.ts';

/** Limits that every run uses and that let every run pass: what remains is their cost. */
const three: Record<string, object> = {
  slots: { kind: 'concurrency', amount: 1_000_000 },
  calls: { kind: 'requests', amount: 1_000_000_000, per_ms: 60_000 },
  tokens: { kind: 'tokens', amount: 1_000_000_000_000, per_ms: 60_000 },
};

const withThree = async (databaseUrl: string): Promise<void> => {
  await migrate(databaseUrl);
  await setLimits(databaseUrl, three);
};

/** Measures whole runs without limits, and with three limits whose buckets all runs share. */
export async function cost(servers: Servers): Promise<void> {
  const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));
  const concurrencies = [1, 10, 50] as const;
  for (const { name: queue, redisUrl } of backends(servers)) {
    const usesRedis = redisUrl !== null;
    const contestants: Contestant[] = [
      { name: 'without limits', file, usesRedis },
      { name: 'with three limits', file, usesRedis, prepare: withThree },
    ];
    const plan = { rounds: 5, seconds: 3, warmUpSeconds: 3, concurrencies };
    const figuresOf = await sideBySide(servers, contestants, plan);
    console.log(
      `\nRuns with the queue in ${queue}; speed relative to no limits, median of 5 rounds compared one by one (goal 85 %)`,
    );
    printRelativeSpeed(figuresOf, contestants, concurrencies);
  }
}

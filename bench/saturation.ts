import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Servers } from './setup.ts';
import { backends } from './support/backends.ts';
import { quantile } from './support/median.ts';
import { sideBySide, type Contestant } from './support/side-by-side.ts';

const concurrencies = [50, 100, 200, 400] as const;
const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));

/**
 * What more runs at a time reach with one process, and which of the processors' time they use. A process of Node executes JavaScript
 * on one processor, so its CPU per run bounds its rate, and that of all processes bounds the rate of the machine.
 */
export async function saturation(servers: Servers): Promise<void> {
  const contestants = backends(servers).map(({ name, redisUrl }): Contestant => ({
    name,
    file,
    usesRedis: redisUrl !== null,
  }));
  const plan = { rounds: 3, seconds: 5, warmUpSeconds: 15, concurrencies };
  const figuresOf = await sideBySide(servers, contestants, plan);
  const processors = availableParallelism();
  console.log(`\nOne process with clients and worker, ${processors} processors; CPU in ms per run`);
  console.log(
    'queue in     at a time   runs/s   busy processors   of Node, PostgreSQL, Redis   p50, ms   p95, ms   at most',
  );
  for (const { name, usesRedis } of contestants) {
    for (const concurrency of concurrencies) {
      const { runsPerSecond: rate, node, postgres = NaN, redis = 0, runsMs } = figuresOf({ name }, concurrency);
      const all = node + postgres + (usesRedis ? redis : 0);
      const cpu = [node, postgres, ...(usesRedis ? [redis] : [])].map((ms) => ms.toFixed(2)).join(', ');
      const atMost = Math.min(1_000 / node, (processors * 1_000) / all);
      console.log(
        `${name.padEnd(12)}${String(concurrency).padStart(10)}${rate.toFixed(0).padStart(9)}${((rate * all) / 1_000).toFixed(2).padStart(18)}${cpu.padStart(29)}${quantile(runsMs, 0.5).toFixed(0).padStart(10)}${quantile(runsMs, 0.95).toFixed(0).padStart(10)}${atMost.toFixed(0).padStart(10)}`,
      );
    }
  }
}

import { fileURLToPath } from 'node:url';
import type { Servers } from './setup.ts';
import { median } from './support/median.ts';
import { sideBySide, type Contestant, type Figures } from './support/side-by-side.ts';

const concurrencies = [1, 10, 50] as const;
const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));

const own = ({ statements = {} }: Figures) => Object.entries(statements).filter(([name]) => name !== 'other');
const sum = (of: [string, number][]) => of.reduce((total, [, count]) => total + count, 0);
const ms = (value: number | undefined) => (value === undefined ? '?' : value.toFixed(2));

/**
 * Measures the cost of a run of three steps: CPU of all processes, statements, and the time to the first model call.
 */
export async function runCost(servers: Servers): Promise<void> {
  const contestants: Contestant[] = [{ name: 'postgres', file, usesRedis: false }];
  if (servers.redisUrl) contestants.push({ name: 'redis', file, usesRedis: true });
  const figuresOf = await sideBySide(servers, contestants, { rounds: 3, seconds: 6, warmUpSeconds: 6, concurrencies });
  console.log('\nCost of a run: CPU in ms per run, SQL statements per run (median of 3 interleaved rounds)');
  for (const contestant of contestants) {
    for (const concurrency of concurrencies) {
      const figures = figuresOf(contestant, concurrency);
      const { node, postgres, redis } = figures;
      const total = postgres === undefined ? undefined : node + postgres + (contestant.usesRedis ? redis! : 0);
      console.log(
        `${contestant.name.padEnd(8)} c=${String(concurrency).padEnd(3)} ${figures.runsPerSecond.toFixed(0).padStart(5)} runs/s  CPU ${ms(total)} (Node ${ms(node)}, PostgreSQL ${ms(postgres)}${contestant.usesRedis ? `, Redis ${ms(redis)}` : ''})  statements ${sum(own(figures)).toFixed(2)}, the queue's ${(figures.statements?.['other'] ?? 0).toFixed(2)}`,
      );
      console.log(`  enqueue to first model call: median ${ms(median(figures.firstCallsMs ?? []))} ms`);
      const byName = own(figures).sort(([, a], [, b]) => b - a);
      console.log(`  ${byName.map(([name, count]) => `${name} ${count.toFixed(2)}`).join(', ')}`);
    }
  }
}

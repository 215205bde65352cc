import { fileURLToPath } from 'node:url';
import type { Servers } from './setup.ts';
import { isOfQueue } from './support/count-statements.ts';
import { median } from './support/median.ts';
import { sideBySide, type Contestant, type Figures } from './support/side-by-side.ts';

const concurrencies = [1, 10, 50] as const;
const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));

/** The statements of the queue, or all others, the most frequent first. */
const statementsOf = ({ statements = {} }: Figures, { ofQueue }: { ofQueue: boolean }) =>
  Object.entries(statements)
    .filter(([name]) => isOfQueue(name) === ofQueue)
    .sort(([, a], [, b]) => b - a);
const listed = (statements: [string, number][]) =>
  statements
    .filter(([, count]) => count >= 0.005)
    .map(([name, count]) => `${name.replace('queue: ', '')} ${count.toFixed(2)}`)
    .join(', ');
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
      const [own, queue] = [statementsOf(figures, { ofQueue: false }), statementsOf(figures, { ofQueue: true })];
      const total = postgres === undefined ? undefined : node + postgres + (contestant.usesRedis ? redis! : 0);
      console.log(
        `${contestant.name.padEnd(8)} c=${String(concurrency).padEnd(3)} ${figures.runsPerSecond.toFixed(0).padStart(5)} runs/s  CPU ${ms(total)} (Node ${ms(node)}, PostgreSQL ${ms(postgres)}${contestant.usesRedis ? `, Redis ${ms(redis)}` : ''})  statements ${sum(own).toFixed(2)}, the queue's ${sum(queue).toFixed(2)}`,
      );
      console.log(`  enqueue to first model call: median ${ms(median(figures.firstCallsMs ?? []))} ms`);
      console.log(`  ${listed(own)}`);
      if (queue.length > 0) console.log(`  the queue's: ${listed(queue)}`);
    }
  }
}

import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrate } from 'lanefold';
import type { Servers } from './setup.ts';
import { backends } from './support/backends.ts';
import { median } from './support/median.ts';
import { sideBySide, type Contestant } from './support/side-by-side.ts';

/** Limits that every run uses and that let every run pass: what remains is their cost. */
const three: Record<string, object> = {
  slots: { kind: 'concurrency', amount: 1_000_000 },
  calls: { kind: 'requests', amount: 1_000_000_000, per_ms: 60_000 },
  tokens: { kind: 'tokens', amount: 1_000_000_000_000, per_ms: 60_000 },
};

async function withLimits(databaseUrl: string): Promise<void> {
  await migrate(databaseUrl);
  const admin = new pg.Client(databaseUrl);
  await admin.connect();
  for (const [name, limit] of Object.entries(three))
    await admin.query("select lanefold.set_limit('*', $1, $2)", [name, { scope: {}, by: 'bench', ...limit }]);
  await admin.end();
}

/** Measures whole runs without limits, and with three limits whose buckets all runs share. */
export async function limits(servers: Servers): Promise<void> {
  const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));
  const concurrencies = [1, 10, 50] as const;
  for (const { name: queue, redisUrl } of backends(servers)) {
    const usesRedis = redisUrl !== null;
    const contestants: Contestant[] = [
      { name: 'without limits', file, usesRedis },
      { name: 'with three limits', file, usesRedis, prepare: withLimits },
    ];
    const plan = { rounds: 5, seconds: 3, warmUpSeconds: 3, concurrencies };
    const figuresOf = await sideBySide(servers, contestants, plan);
    console.log(
      `\nRuns with the queue in ${queue}; speed relative to no limits, median of 5 rounds compared one by one`,
    );
    for (const concurrency of concurrencies) {
      const bare = figuresOf(contestants[0]!, concurrency).runsPerSecondOfRounds;
      for (const contestant of contestants) {
        const { runsPerSecond, runsPerSecondOfRounds, node, postgres = NaN } = figuresOf(contestant, concurrency);
        const speed = median(runsPerSecondOfRounds.map((runs, round) => runs / bare[round]!));
        console.log(
          `c=${String(concurrency).padEnd(3)} ${contestant.name.padEnd(18)} ${runsPerSecond.toFixed(0)} runs/s  ${(100 * speed).toFixed(1)} %  CPU per run: Node ${node.toFixed(2)} ms, PostgreSQL ${postgres.toFixed(2)} ms`,
        );
      }
    }
  }
}

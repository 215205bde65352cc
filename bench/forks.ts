import { createLanefold } from 'lanefold';
import pg from 'pg';
import type { Servers } from './setup.ts';
import { fillThread } from './support/long-thread.ts';
import { median } from './support/median.ts';

const sizes = [1_000, 1_000_000];
const forks = 200;

/**
 * Measures the cost of forking a lane of 100 messages, from threads of two sizes, at their last entry and before it.
 */
export async function forking(servers: Servers): Promise<void> {
  const url = await servers.database();
  const lanefold = await createLanefold({
    databaseUrl: url,
    redisUrl: servers.redisUrl ?? null,
    queuePrefix: 'forks',
  });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  for (const size of sizes) await fillThread(pool, size);
  await pool.query('vacuum analyze');
  console.log(`\nForking a lane of 100 messages, median of ${forks} interleaved forks (ms)`);
  for (const [what, contextRef, back] of [
    ['after an anchor', 'default', 0],
    ['after an anchor, ten entries ago', 'default', 10],
    ['scattered over the thread', 'scattered', 0],
  ] as const) {
    const times = new Map<number, number[]>(sizes.map((size) => [size, []]));
    for (let i = 0; i < forks + 20; i++) {
      for (const size of i % 2 === 0 ? sizes : sizes.toReversed()) {
        const parent = `size-${size}`;
        const { rev } = await lanefold.threads.get(parent);
        const startedAt = performance.now();
        await lanefold.threads.fork(parent, { contextRef, atSeq: rev - 1 - back });
        if (i >= 20) times.get(size)!.push(performance.now() - startedAt);
      }
    }
    const medians = sizes.map((size) => median(times.get(size)!));
    const figures = sizes.map((size, i) => `${size}: ${medians[i]!.toFixed(2)}`).join('  ');
    console.log(`${what.padEnd(34)} ${figures}  ratio ${(medians.at(-1)! / medians[0]!).toFixed(2)} (goal 1.5)`);
  }
  await pool.end();
  await lanefold.close();
}

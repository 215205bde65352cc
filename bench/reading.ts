import { createLanefold } from 'lanefold';
import pg from 'pg';
import type { Servers } from './setup.ts';
import { fillThread } from './support/long-thread.ts';
import { timeToOpen, type OpenedThread } from './support/page.ts';

const sizes = [1_000, 100_000, 1_000_000];
const reads = 300;

/**
 * Measures how long it takes to read a 100-message context from threads of three sizes. The messages follow an anchor
 * near the head, or are scattered over the whole thread in a separate lane.
 */
export async function reading(servers: Servers): Promise<void> {
  const url = await servers.database();
  const lanefold = await createLanefold({
    databaseUrl: url,
    redisUrl: servers.redisUrl ?? null,
    queuePrefix: 'reading',
  });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  for (const size of sizes) await fillThread(pool, size);
  await pool.query('vacuum analyze');
  console.log(`\nReading a 100-message context, median of ${reads} interleaved reads (ms)`);
  for (const contextRef of ['default', 'scattered']) {
    const times = new Map<number, number[]>(sizes.map((size) => [size, []]));
    for (let i = 0; i < reads + 20; i++) {
      for (const size of sizes) {
        const startedAt = performance.now();
        const rows = await lanefold.contexts.project(`size-${size}`, { contextRef });
        if (rows.length !== 100) throw new Error(`${rows.length} messages instead of 100`);
        if (i >= 20) times.get(size)!.push(performance.now() - startedAt);
      }
    }
    const medians = sizes.map((size) => times.get(size)!.sort((a, b) => a - b)[reads / 2]!);
    const ratio = Math.max(...medians) / Math.min(...medians);
    const what = contextRef === 'default' ? 'after an anchor' : 'scattered over the thread';
    console.log(
      `${what.padEnd(32)} ${sizes.map((size, i) => `${size}: ${medians[i]!.toFixed(2)}`).join('  ')}  largest/smallest ${ratio.toFixed(2)} (goal 1.3)`,
    );
  }
  const { rows: threads } = await pool.query<OpenedThread>(
    `select id, rev::int as entries from lanefold.thread where starts_with(id, 'size-') order by rev`,
  );
  await pool.end();
  const opened = await timeToOpen(lanefold, threads);
  for (const where of ['newest', 'middle'] as const) {
    const each = opened?.map((times, i) => `${sizes[i]}: ${times[where].toFixed(0)}`).join('  ');
    if (each) console.log(`The page, until its ${where} entries are drawn (ms, median): ${each} (goal 300)`);
  }
  await lanefold.close();
}
